-- Neovim 0.7 to 0.10
vim.api.nvim_create_autocmd("FileType", {
  pattern = "python",
  callback = function(event)
    local marker = vim.fs and vim.fs.find({ "torchlint.toml", "pyproject.toml", ".git" }, { upward = true })[1]
    torchlint = torchlint or vim.lsp.start_client({
      name = "torchlint",
      cmd = { "torchlint", "server" },
      root_dir = marker and vim.fs.dirname(marker) or vim.fn.getcwd(),
    })
    vim.lsp.buf_attach_client(event.buf, torchlint)
  end,
})
