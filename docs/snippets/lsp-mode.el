(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client
    :new-connection (lsp-stdio-connection '("torchlint" "server"))
    :activation-fn (lsp-activate-on "python")
    :add-on? t ; beside another server of the language
    :server-id 'torchlint)))
