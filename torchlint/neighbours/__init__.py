"""torchlint inside other tools."""
