-- What a person does in Neovim 0.7, written down as JSON: attach, look, hover, choose a quick fix, save.
-- Globals: ARGUMENTS = {command, root, output}.

local seen = {}

local function finish()
  local file = assert(io.open(ARGUMENTS.output, "w"))
  file:write(vim.fn.json_encode(seen))
  file:close()
  vim.cmd("qa!")
end

local function wait(what, happened)
  if not vim.wait(ARGUMENTS.patience, happened, 20) then
    seen.timeout = what
    finish()
  end
end

local function diagnostics()
  return vim.tbl_map(function(found)
    return { code = found.code, row = found.lnum, column = found.col, source = found.source, message = found.message }
  end, vim.diagnostic.get(0))
end

local client = vim.lsp.start_client({ name = "torchlint", cmd = ARGUMENTS.command, root_dir = ARGUMENTS.root })
vim.lsp.buf_attach_client(0, client)
wait("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
seen.before = diagnostics()
local shown = 0
for _, namespace in pairs(vim.diagnostic.get_namespaces()) do
  local own = namespace.user_data and namespace.user_data.virt_text_ns
  shown = shown + (own and #vim.api.nvim_buf_get_extmarks(0, own, 0, -1, {}) or 0)
end
seen.shown = shown

local place = vim.diagnostic.get(0)[1]
vim.api.nvim_win_set_cursor(0, { place.lnum + 1, place.col })
local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), ARGUMENTS.patience)
seen.hover = answers[client].result.contents.value

vim.ui.select = function(items, options, choose)
  seen.choices = vim.tbl_map(options.format_item, items)
  for _, item in ipairs(items) do
    if options.format_item(item):find(ARGUMENTS.choice, 1, true) then
      return choose(item)
    end
  end
end
vim.lsp.buf.code_action()
wait("the repair", function() return vim.bo.modified end)
seen.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
wait("its end", function() return #vim.diagnostic.get(0) == 0 end)
seen.after = diagnostics()
vim.cmd("write")
vim.lsp.stop_client(client)
wait("the server's end", function() return vim.lsp.client_is_stopped(client) end)
seen.stopped = true
finish()
