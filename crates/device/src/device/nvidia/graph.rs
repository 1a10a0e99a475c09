//! Kernels that are launched again and again, as CUDA graphs of one node (CUDA driver API, "Graph Management").
//!
//! To launch such a graph takes the host less than half as long as `cuLaunchKernel` does, also where the arguments are
//! others each time (docs/performance.md).

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{env, ptr, sync::LazyLock};

use cudarc::driver::sys;

use super::{
    Device, Stream,
    driver::{Handle, Status},
    packed::packed,
};
use crate::device::{Arguments, LaunchConfig, Result};

/// Launches in a row on one stream before there is a graph: to make one takes as long as about so many save.
const OFTEN: u32 = 8;
/// Most graphs of a context: each takes some 110 KiB of the GPU's memory.
const MOST: u32 = 256;

/// Whether a tool like Nsight Systems or one of CUPTI's looks on: they would show graphs where their users look for
/// kernels.
static OBSERVED: LazyLock<bool> = LazyLock::new(|| {
    ["CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"]
        .map(env::var_os)
        .iter()
        .any(Option::is_some)
});

/// A kernel's launches in a row on one stream, and its graph.
///
/// There is one graph for one stream: launches of the same one never overlap, but a kernel's on two streams may.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    stream: u64,
    count: u32,
    graph: Option<Graph>,
    /// Whether the driver refused to make or change a graph of this kernel.
    refused: bool,
}

impl Repeats {
    /// Launches the kernel, whose shape and arguments fit it, as a graph, where that is worth it and there can be one.
    ///
    /// # Safety
    /// As for [`Stream::launch`]; the context is current.
    pub(super) unsafe fn launch(
        &mut self,
        stream: &Stream,
        function: sys::CUfunction,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Option<Status> {
        if !self.are_worth_it(stream) {
            return None;
        }
        let context = stream.context();
        let changes = context.changes();
        let state = State::now(stream, *changes).ok()?;
        let graph = self.graph(stream, state?, function, config, arguments)?;
        // SAFETY: stream and graph are alive, and no other thread has the graph; what the kernel does is the caller's
        // duty.
        Some(unsafe { context.driver().cuGraphLaunch(graph.executable.0, stream.raw()) })
    }

    /// Counts a launch: whether there is a graph for it, or enough launches came before it.
    fn are_worth_it(&mut self, stream: &Stream) -> bool {
        if self.stream != stream.number() {
            (self.stream, self.count) = (stream.number(), 0);
        }
        self.count = self.count.saturating_add(1);
        let there = self.graph.as_ref().is_some_and(|graph| graph.state.stream == self.stream);
        (there || self.count >= OFTEN) && !self.refused && !*OBSERVED
    }

    /// The graph for a launch.
    fn graph(
        &mut self,
        stream: &Stream,
        state: State,
        function: sys::CUfunction,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Option<&Graph> {
        let ready = match self.graph.as_mut().filter(|graph| graph.state == state) {
            Some(graph) => graph.set(function, config, arguments),
            None => {
                // Its room is free then.
                self.graph = None;
                let graph = Graph::new(stream, state, function, config, arguments);
                graph.map(|graph| self.graph = graph)
            }
        };
        if ready.is_err() {
            (self.graph, self.refused) = (None, true);
        }
        self.graph.as_ref()
    }
}

/// What a graph keeps as it was when it was made. Launched later, it makes the context unusable where the stack has
/// another size by then (seen with driver 580).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// The number of the stream.
    stream: u64,
    /// How often limits and preferences were set.
    changes: u32,
    /// Of a thread, which others in the process may set, too.
    stack_bytes: usize,
}

impl State {
    /// That of now; `None` where another library records what is put on the stream, which must be kernels then.
    fn now(stream: &Stream, changes: u32) -> Result<Option<Self>> {
        let (context, mut capture, mut stack_bytes) = (stream.context(), 0, 0);
        // SAFETY: the stream is alive, and `capture` is written before the call returns.
        context.check(unsafe {
            context.driver().cuStreamIsCapturing(stream.raw(), &raw mut capture)
        })?;
        // SAFETY: `stack_bytes` is written before the call returns.
        context.check(unsafe {
            context.driver().cuCtxGetLimit(&raw mut stack_bytes, sys::CUlimit::CU_LIMIT_STACK_SIZE)
        })?;
        let nobody = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE as i32;
        Ok((capture == nobody).then_some(Self { stream: stream.number(), changes, stack_bytes }))
    }
}

/// A graph of one kernel.
#[derive(Debug)]
pub(super) struct Graph {
    device: Device,
    raw: Handle<sys::CUgraph_st>,
    node: Handle<sys::CUgraphNode_st>,
    /// What is launched.
    executable: Handle<sys::CUgraphExec_st>,
    state: State,
    config: LaunchConfig,
    arguments: Arguments,
}

impl Graph {
    /// One for launches on `stream`; `None` where the context has enough of them.
    fn new(
        stream: &Stream,
        state: State,
        function: sys::CUfunction,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<Option<Self>> {
        let (device, context) = (stream.device().clone(), stream.context());
        if !context.graphs().take(MOST) {
            return Ok(None);
        }
        let (mut raw, none) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `raw` is written before the call returns.
        let made = context.check(unsafe { context.driver().cuGraphCreate(&raw mut raw, 0) });
        made.inspect_err(|_| context.graphs().give_back())?;
        // From here on what is there already is given back by `drop`.
        let mut graph = Self {
            device,
            raw: Handle(raw),
            node: Handle(ptr::null_mut()),
            executable: Handle(none),
            state,
            config: *config,
            arguments: arguments.clone(),
        };
        let status = with_node(function, config, arguments, |parameters| {
            // SAFETY: the graph is alive, the node is written before the call returns, which copies the parameters;
            // they are those of a launch of the function.
            unsafe {
                context.driver().cuGraphAddKernelNode(
                    &raw mut graph.node.0,
                    raw,
                    ptr::null(),
                    0,
                    parameters,
                )
            }
        });
        context.check(status)?;
        // SAFETY: the graph is alive, and `executable` is written before the call returns.
        context.check(unsafe {
            context.driver().cuGraphInstantiateWithFlags(&raw mut graph.executable.0, raw, 0)
        })?;
        Ok(Some(graph))
    }

    /// Sets shape and arguments for launches from now on.
    fn set(
        &mut self,
        function: sys::CUfunction,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        if self.config == *config && self.arguments.bytes() == arguments.bytes() {
            return Ok(());
        }
        let context = self.device.context();
        let status = with_node(function, config, arguments, |parameters| {
            // SAFETY: graph, node and executable are alive, and nobody else has them; the rest as in `new`.
            unsafe {
                context.driver().cuGraphExecKernelNodeSetParams(
                    self.executable.0,
                    self.node.0,
                    parameters,
                )
            }
        });
        context.check(status)?;
        self.config = *config;
        self.arguments.clone_from(arguments);
        Ok(())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let context = self.device.context();
        context.graphs().give_back();
        context.on_drop(|| {
            if !self.executable.0.is_null() {
                // SAFETY: made by `cuGraphInstantiateWithFlags`; where it still runs, the driver frees it afterwards.
                context.check(unsafe { context.driver().cuGraphExecDestroy(self.executable.0) })?;
            }
            // SAFETY: made by `cuGraphCreate`.
            context.check(unsafe { context.driver().cuGraphDestroy(self.raw.0) })
        });
    }
}

/// Calls the driver with the node of a launch.
fn with_node(
    function: sys::CUfunction,
    config: &LaunchConfig,
    arguments: &Arguments,
    call: impl FnOnce(*const sys::CUDA_KERNEL_NODE_PARAMS) -> Status,
) -> Status {
    packed(arguments, |extra| {
        let node = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: config.grid.x,
            gridDimY: config.grid.y,
            gridDimZ: config.grid.z,
            blockDimX: config.block.x,
            blockDimY: config.block.y,
            blockDimZ: config.block.z,
            sharedMemBytes: config.shared_bytes,
            kernelParams: ptr::null_mut(),
            extra,
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        call(&raw const node)
    })
}
