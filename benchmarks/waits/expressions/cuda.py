"""torch.cuda: streams, events, memory, queries (TL110, TL512, TL606, TL7xx)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
x = torch.randn(64, 64, device="cuda")
event = torch.cuda.Event()
timed = torch.cuda.Event(enable_timing=True)
later = torch.cuda.Event(enable_timing=True)
done = torch.cuda.Event(enable_timing=True)
timed.record()
done.record()
side = torch.cuda.Stream()
current = torch.cuda.current_stream()
freed = torch.empty(64, 1024, 1024, device="cuda")

def captured():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x * 2
    return graph

"""

ROWS = (
    row("torch.cuda.synchronize()", "torch.cuda.synchronize"),
    row("torch.cuda.synchronize(0)", "torch.cuda.synchronize"),
    row("torch.accelerator.synchronize()", "torch.accelerator.synchronize"),
    row("current.synchronize()", "torch.cuda.Stream.synchronize", stream="busy"),
    row("torch.cuda.current_stream().synchronize()", "torch.cuda.Stream.synchronize", stream="busy"),
    row("torch.cuda.default_stream().synchronize()", "torch.cuda.Stream.synchronize", stream="busy"),
    row("side.synchronize()", "torch.cuda.Stream.synchronize", stream="idle"),
    row("event.record(); event.synchronize()", "torch.cuda.Event.synchronize", event="pending"),
    row("done.synchronize()", "torch.cuda.Event.synchronize", event="done"),
    row("event.record()", "torch.cuda.Event.record"),
    row("event.record(current)", "torch.cuda.Event.record"),
    row("event.query()", "torch.cuda.Event.query"),
    row("event.record(); event.query()", "torch.cuda.Event.query"),
    row("timed.elapsed_time(done)", "torch.cuda.Event.elapsed_time"),
    row(
        "later.record(); later.synchronize(); timed.elapsed_time(later)",
        "torch.cuda.Event.synchronize",
        event="pending",
    ),
    row("event.wait()", "torch.cuda.Event.wait"),
    row("side.wait_stream(current)", "torch.cuda.Stream.wait_stream"),
    row("current.wait_stream(side)", "torch.cuda.Stream.wait_stream"),
    row("side.wait_event(event)", "torch.cuda.Stream.wait_event"),
    row("current.record_event()", "torch.cuda.Stream.record_event"),
    row("current.query()", "torch.cuda.Stream.query"),
    row("with torch.cuda.stream(side): x * 2", "torch.cuda.stream"),
    row("with torch.cuda.stream(side): (x * 2).sum().item()", ".item", stream="idle"),
    row("x.record_stream(side)", ".record_stream"),
    row("torch.cuda.Stream()", "torch.cuda.Stream"),
    row("torch.cuda.Event(enable_timing=True)", "torch.cuda.Event"),
    row("graph.replay()", "torch.cuda.CUDAGraph.replay", setup="graph = captured()\n"),
    # Memory
    row("torch.cuda.empty_cache()", "torch.cuda.empty_cache", cached="whatever there is"),
    row("del freed; torch.cuda.empty_cache()", "torch.cuda.empty_cache", cached="a free block"),
    row("torch.cuda.mem_get_info()", "torch.cuda.mem_get_info"),
    row("torch.cuda.memory_allocated()", "torch.cuda.memory_allocated"),
    row("torch.cuda.max_memory_allocated()", "torch.cuda.max_memory_allocated"),
    row("torch.cuda.memory_reserved()", "torch.cuda.memory_reserved"),
    row("torch.cuda.max_memory_reserved()", "torch.cuda.max_memory_reserved"),
    row("torch.cuda.reset_peak_memory_stats()", "torch.cuda.reset_peak_memory_stats"),
    row("torch.cuda.memory_stats()", "torch.cuda.memory_stats"),
    row("torch.cuda.memory_summary()", "torch.cuda.memory_summary"),
    row("torch.cuda.ipc_collect()", "torch.cuda.ipc_collect"),
    row('torch.empty(64, 1024, 1024, device="cuda")', "torch.empty", size="number"),
    row("del x"),
    # Queries
    row("torch.cuda.is_available()", "torch.cuda.is_available"),
    row("torch.cuda.device_count()", "torch.cuda.device_count"),
    row("torch.cuda.current_device()", "torch.cuda.current_device"),
    row("torch.cuda.get_device_name()", "torch.cuda.get_device_name"),
    row("torch.cuda.get_device_properties(0)", "torch.cuda.get_device_properties"),
    row("torch.cuda.get_device_capability()", "torch.cuda.get_device_capability"),
    row("torch.cuda.current_stream()", "torch.cuda.current_stream"),
    row("torch.cuda.set_device(0)", "torch.cuda.set_device"),
    row("torch.cuda.is_current_stream_capturing()", "torch.cuda.is_current_stream_capturing"),
    row('torch.cuda.nvtx.range_push("step"); torch.cuda.nvtx.range_pop()', "torch.cuda.nvtx.range_push"),
    row("torch.cuda.is_bf16_supported()", "torch.cuda.is_bf16_supported"),
)
