;; What a person does in Emacs: open train.py, look, choose the repair, look again, save.
;; To be loaded with client, `eglot' or `lsp-mode', after what the page says to put into the configuration.

(require client)
(require 'seq)
(setq last-nonmenu-event ?x ; choices are asked for in the minibuffer, not in a menu
      lsp-enable-snippet nil
      lsp-debounce-full-sync-notifications nil) ; it would wait for a timer, which never rings here

(defun wait (what happened)
  (let ((rounds 0))
    (while (not (funcall happened))
      (when (> (setq rounds (1+ rounds)) (* 20 patience))
        (message "waited in vain for %s" what)
        (kill-emacs 1))
      (accept-process-output nil 0.05))))

(defun found ()
  "The diagnostics of the buffer, each as text."
  (if (eq client 'eglot)
      (mapcar #'flymake-diagnostic-text (flymake-diagnostics))
    (mapcar (lambda (one) (format "%s %s" (lsp-get one :code) (lsp-get one :message)))
            (gethash (buffer-file-name) (lsp-diagnostics)))))

(fset 'completing-read
      (lambda (_prompt choices &rest _)
        (seq-find (lambda (choice) (string-match-p "Detach" choice)) (all-completions "" choices))))

(find-file "train.py")
(if (eq client 'eglot) (eglot-ensure) (lsp))
(when (and (eq client 'eglot) (not (eglot-current-server))) (call-interactively #'eglot))
(wait "a finding" #'found)
(message "found %S" (found))
(goto-char (point-min))
(search-forward "total +")
(call-interactively (if (eq client 'eglot) #'eglot-code-actions #'lsp-execute-code-action))
(wait "the repair" #'buffer-modified-p)
(when (eq client 'eglot) (eglot--signal-textDocument/didChange)) ; as a timer would
(wait "its end" (lambda () (null (found))))
(save-buffer)
