-- Neovim 0.11 and later
vim.lsp.config("torchlint", {
  cmd = { "torchlint", "server" },
  filetypes = { "python" },
  root_markers = { "torchlint.toml", "pyproject.toml", ".git" },
})
vim.lsp.enable("torchlint")
