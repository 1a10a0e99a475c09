//! What an expression is made of: operations on arrays and values, as a graph.

use std::{collections::HashMap, hash::BuildHasherDefault, sync::Arc};

use smallvec::{SmallVec, smallvec};

use super::{DType, Data, GpuArray, Layout, data::expect_sized};
use crate::{
    device::PoolBlock,
    kernel::{Context, Key},
};

/// One of them.
#[derive(Debug)]
pub(super) enum Node {
    Array(Operand),
    Scalar(Constant),
    /// CUDA C++ with `$0`, `$1`, ... for the arguments.
    Apply {
        dtype: DType,
        code: &'static str,
        arguments: Nodes,
    },
    /// The elements of an array whose numbers in C order the only argument gives; it must give no others.
    Gather {
        source: Operand,
        arguments: Nodes,
    },
}

/// What an operation is applied to.
pub(super) type Nodes = SmallVec<[Arc<Node>; 3]>;

/// A value that is given to the kernel as an argument, so that another one needs no other kernel.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) dtype: DType,
    pub(super) bytes: SmallVec<[u8; 16]>,
}

impl Constant {
    pub(super) fn new<T: Data>(value: T) -> Self {
        expect_sized::<T>();
        Self { dtype: T::DTYPE, bytes: bytemuck::bytes_of(&value).into() }
    }
}

/// An array in an expression.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) context: Context,
    pub(super) memory: Arc<PoolBlock>,
    pub(super) layout: Arc<Layout>,
    pub(super) dtype: DType,
}

impl Operand {
    /// Where its first element is.
    pub(super) fn address(&self) -> u64 {
        self.memory.address() + (self.layout.offset() * self.dtype.bytes) as u64
    }
}

impl<T: Data> GpuArray<T> {
    /// It as a part of an expression.
    pub(super) fn operand(&self) -> Operand {
        Operand {
            context: self.context().clone(),
            memory: self.memory.clone(),
            layout: self.layout.clone(),
            dtype: T::DTYPE,
        }
    }
}

impl Node {
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Array(operand) | Self::Gather { source: operand, .. } => operand.dtype,
            Self::Scalar(constant) => constant.dtype,
            Self::Apply { dtype, .. } => *dtype,
        }
    }

    pub(super) fn arguments(&self) -> &[Arc<Self>] {
        match self {
            Self::Apply { arguments, .. } | Self::Gather { arguments, .. } => arguments,
            Self::Array(_) | Self::Scalar(_) => &[],
        }
    }
}

/// Long chains must not be dropped by recursion, which would run out of stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut left = match self {
            Self::Apply { arguments, .. } | Self::Gather { arguments, .. } => {
                std::mem::take(arguments)
            }
            Self::Array(_) | Self::Scalar(_) => return,
        };
        while let Some(node) = left.pop() {
            if let Some(Self::Apply { arguments, .. } | Self::Gather { arguments, .. }) =
                Arc::into_inner(node).as_mut()
            {
                left.append(arguments);
            }
        }
    }
}

/// So few nodes that to look at each is the fastest way to find one.
const FEW_NODES: usize = 16;

/// The nodes that an expression needs, each once and behind its arguments.
pub(super) struct Order<'a> {
    pub(super) nodes: SmallVec<[&'a Arc<Node>; FEW_NODES]>,
    /// Their places, where they are many.
    numbers: HashMap<*const Node, usize, BuildHasherDefault<Key>>,
}

impl<'a> Order<'a> {
    pub(super) fn of(root: &'a Arc<Node>) -> Self {
        let mut order = Self { nodes: SmallVec::new(), numbers: HashMap::default() };
        let mut stack: SmallVec<[_; FEW_NODES]> = smallvec![(root, false)];
        while let Some((node, ready)) = stack.pop() {
            if order.number(node).is_some() {
                continue;
            }
            if ready {
                order.push(node);
            } else {
                stack.push((node, true));
                stack.extend(node.arguments().iter().rev().map(|argument| (argument, false)));
            }
        }
        order
    }

    fn push(&mut self, node: &'a Arc<Node>) {
        self.nodes.push(node);
        if self.nodes.len() > FEW_NODES {
            let unlisted = self.nodes.iter().enumerate().skip(self.numbers.len());
            self.numbers.extend(unlisted.map(|(place, node)| (Arc::as_ptr(node), place)));
        }
    }

    /// The place of a node, if it is among them.
    pub(super) fn number(&self, node: &Arc<Node>) -> Option<usize> {
        match self.nodes.len() {
            ..=FEW_NODES => self.nodes.iter().position(|known| Arc::ptr_eq(known, node)),
            _ => self.numbers.get(&Arc::as_ptr(node)).copied(),
        }
    }
}
