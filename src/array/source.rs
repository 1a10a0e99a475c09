//! CUDA C++ for an expression: the part that all generated kernels share.

use std::{collections::HashMap, fmt::Write as _, sync::Arc};

use super::{
    DType, Error, Result,
    custom::Bound,
    expression::{Node, Operand, in_order},
};
use crate::{
    device::{Arguments, Function},
    kernel::{Context, GENERATED},
};

/// Most arrays, scalars and operations of one kernel: what fits its parameters (4 KiB) and compiles in good time.
const MOST_ARRAYS: usize = 24;
const MOST_SCALARS: usize = 64;
const MOST_OPERATIONS: usize = 1000;

/// Functions that expressions call.
const PRELUDE: &str = include_str!("prelude.cuh");

/// An expression as statements: each array `k` is read into `x<k>`, each scalar is `s<k>`, and the value is in
/// [`Code::result`].
pub(super) struct Code<'a> {
    pub(super) arrays: Vec<&'a Operand>,
    scalars: Vec<(DType, &'a [u8])>,
    statements: String,
    /// How many nodes there were.
    operations: usize,
    pub(super) result: String,
    dtypes: Vec<DType>,
    /// What the parameters of a kernel of the user's own come to.
    custom: Bound,
    /// Text of the user's behind all definitions.
    pub(super) user_preamble: &'a str,
    /// Further classes and functions that the kernel's own text names.
    pub(super) library: &'static str,
}

impl<'a> Code<'a> {
    /// The code of `root`.
    ///
    /// # Errors
    /// [`Error::TooLong`] for more than one kernel can hold.
    pub(super) fn new(root: &'a Arc<Node>) -> Result<Self> {
        let mut code = Self {
            arrays: Vec::new(),
            scalars: Vec::new(),
            statements: String::new(),
            operations: 0,
            result: String::new(),
            dtypes: Vec::new(),
            custom: Bound::default(),
            user_preamble: "",
            library: "",
        };
        code.result = code.include(root)?;
        Ok(code)
    }

    /// Adds the code of a further expression; the name of its value.
    ///
    /// # Errors
    /// As [`Code::new`].
    pub(super) fn include(&mut self, root: &'a Arc<Node>) -> Result<String> {
        let order = in_order(root);
        let first = self.operations;
        self.operations += order.len();
        let too_long = Error::TooLong { operations: self.operations };
        if self.operations > MOST_OPERATIONS {
            return Err(too_long);
        }
        let (mut result, mut names) = (String::new(), HashMap::with_capacity(order.len()));
        for (number, &node) in (first..).zip(&order) {
            let name = self.add(number, node, &names);
            names.insert(Arc::as_ptr(node), name.clone());
            result = name;
        }
        if self.arrays.len() + self.custom.arrays.len() > MOST_ARRAYS
            || self.scalars.len() > MOST_SCALARS
        {
            return Err(too_long);
        }
        Ok(result)
    }

    /// The code of the user's expression `value` over bound parameters; `i` is the index.
    pub(super) fn custom(custom: Bound, user_preamble: &'a str, value: &str) -> Self {
        let dtypes = custom.dtypes.clone();
        Self {
            arrays: Vec::new(),
            scalars: Vec::new(),
            statements: String::new(),
            operations: 0,
            result: user_code("map expression", &format!("({value})")),
            dtypes,
            custom,
            user_preamble,
            library: "",
        }
    }

    /// Adds a node; the name of its value.
    fn add(
        &mut self,
        number: usize,
        node: &'a Node,
        names: &HashMap<*const Node, String>,
    ) -> String {
        self.define(node.dtype());
        match node {
            Node::Array(operand) => {
                let same = |other: &&Operand| {
                    Arc::ptr_eq(&other.memory, &operand.memory)
                        && (&other.layout, other.dtype) == (&operand.layout, operand.dtype)
                };
                let at = self.arrays.iter().position(same).unwrap_or_else(|| {
                    self.arrays.push(operand);
                    self.arrays.len() - 1
                });
                format!("x{at}")
            }
            Node::Gather { source, arguments } => {
                let at = arguments.first().and_then(|node| names.get(&Arc::as_ptr(node)));
                let array = self.indexed(source, true);
                format!("{array}[{}]", at.map_or("0", String::as_str))
            }
            Node::Scalar { dtype, bytes } => {
                self.scalars.push((*dtype, bytes));
                format!("s{}", self.scalars.len() - 1)
            }
            Node::Apply { dtype, code, arguments } => {
                let name = |at: usize| {
                    arguments
                        .get(at)
                        .and_then(|node| names.get(&Arc::as_ptr(node)))
                        .map_or("", String::as_str)
                };
                let value = fill_in(code, dtype.name, &name);
                let _ = write!(self.statements, "const {} v{number} = {value}; ", dtype.name);
                format!("v{number}")
            }
        }
    }

    /// Adds an array of which the code indexes elements by their numbers in C order; its name.
    pub(super) fn indexed(&mut self, array: &Operand, constant: bool) -> String {
        let name = format!("g{}", self.custom.arrays.len());
        self.custom.add_array(&name, constant, array);
        name
    }

    /// The arrays of which elements are indexed by their numbers.
    pub(super) fn indexed_arrays(&self) -> &[Operand] {
        &self.custom.arrays
    }

    /// How many nodes its expressions have.
    pub(super) fn operations(&self) -> usize {
        self.operations
    }

    pub(super) fn define(&mut self, dtype: DType) {
        if !self.dtypes.contains(&dtype) {
            self.dtypes.push(dtype);
        }
    }

    /// The statements that compute [`Code::result`].
    pub(super) fn statements(&self) -> &str {
        &self.statements
    }

    /// The only kernel of `source`, as [`Code::compile_kernel`].
    ///
    /// # Errors
    /// As [`Context::generated`].
    pub(super) fn compile(&self, context: &Context, source: &str) -> Result<Function> {
        self.compile_kernel(context, source, GENERATED)
    }

    /// The kernel called `kernel` of `source`, which stands behind the definitions that it needs; compiled the first
    /// time.
    ///
    /// # Errors
    /// As [`Context::generated`].
    pub(super) fn compile_kernel(
        &self,
        context: &Context,
        source: &str,
        kernel: &str,
    ) -> Result<Function> {
        let types = self.types();
        // The same text means another kernel where a name in it means something else; in the prelude and the
        // libraries, names always mean the same.
        let key = [&types, self.user_preamble, source].concat();
        Ok(context.generated(&key, kernel, || {
            let mut text = types + PRELUDE + self.library;
            if !self.user_preamble.is_empty() {
                text.push_str(&user_code("preamble", self.user_preamble));
            }
            text + source
        })?)
    }

    /// Definitions of the types.
    fn types(&self) -> String {
        let mut text = String::new();
        for dtype in &self.dtypes {
            if !dtype.definition.is_empty() && !text.contains(dtype.definition) {
                let _ = writeln!(text, "{}", dtype.definition);
            }
        }
        for DType { name, bytes, align, .. } in &self.dtypes {
            let _ = writeln!(
                text,
                "static_assert(sizeof({name}) == {bytes} && alignof({name}) == {align}, \
                 \"{name} is laid out otherwise in Rust\");"
            );
        }
        text
    }

    /// Parameters for the arrays and the scalars.
    pub(super) fn parameters(&self) -> String {
        let arrays = self.arrays.iter().enumerate();
        let arrays = arrays.map(|(k, array)| format!("const {} *a{k}", array.dtype.name));
        let scalars = self.scalars.iter().enumerate();
        let scalars = scalars.map(|(k, (dtype, _))| format!("const {} s{k}", dtype.name));
        let own = arrays.chain(scalars).map(|parameter| parameter + ", ");
        self.custom.parameters.iter().cloned().chain(own).collect()
    }

    /// What [`Code::parameters`] get.
    pub(super) fn arguments(&self) -> Arguments {
        let mut arguments = self.custom.arguments.clone();
        for array in &self.arrays {
            arguments.push(&array.address());
        }
        for (dtype, bytes) in &self.scalars {
            arguments.push_bytes(bytes, dtype.align);
        }
        arguments
    }

    /// Statements that read the arrays; `place` says where in array `k`.
    pub(super) fn reads(&self, place: impl Fn(usize) -> String) -> String {
        let arrays = self.arrays.iter().enumerate();
        let read = |(k, array): (usize, &&Operand)| {
            format!("const {} x{k} = {}; ", array.dtype.name, place(k))
        };
        arrays.map(read).collect()
    }

    /// Says that the arrays are used on the stream of `context`.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for an array of another device.
    pub(super) fn use_on(&self, context: &Context, operation: &'static str) -> Result<()> {
        let device = context.device().id();
        for array in self.arrays.iter().copied().chain(&self.custom.arrays) {
            if array.context.device().id() != device {
                return Err(Error::WrongDevice { operation });
            }
            array.memory.use_on(context.stream())?;
        }
        Ok(())
    }
}

/// `text` on lines of its own, counted from 1 in a file called `<what>` in diagnostics.
pub(super) fn user_code(what: &str, text: &str) -> String {
    format!("\n#line 1 \"<{what}>\"\n{text}\n#line 1 \"generated.cu\"\n")
}

/// `code` with `$0`, `$1`, ... and `$T` replaced.
fn fill_in<'n>(code: &str, of: &str, name: &dyn Fn(usize) -> &'n str) -> String {
    let mut text = String::with_capacity(code.len() + 16);
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let mut characters = after.chars();
        match characters.next() {
            Some('T') => text.push_str(of),
            Some(digit) => text.push_str(name(digit.to_digit(10).unwrap_or(0) as usize)),
            None => {}
        }
        rest = characters.as_str();
    }
    text + rest
}
