//! CUDA C++ for an expression: the part that all generated kernels share.

use std::{
    fmt::Write as _,
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use smallvec::SmallVec;

use crate::array::{
    DType, Error, Layout, Result,
    bound::{Bound, Name},
    layout::{Arrays, Axes, common_shape},
    node::{Constant, Node, Operand, Order},
};
use crate::{
    device::{Arguments, Function, PoolBlock, Stream},
    kernel::{Context, GENERATED, Key},
};

/// Most arrays, scalars and operations of one kernel: what fits its parameters (4 KiB) and compiles in good time.
const MOST_ARRAYS: usize = 24;
const MOST_SCALARS: usize = 64;
const MOST_OPERATIONS: usize = 1000;

/// Functions that expressions call. Generated kernels include nothing, so what `<math.h>` has comes before them.
const PRELUDE: &str = concat!(
    include_str!("../../compile/c/not_finite.h"),
    include_str!("linspace.cuh"),
    include_str!("prelude.cuh")
);

/// An expression as statements: each array `k` is read into `x<k>`, each scalar is `s<k>`, and the value is in
/// [`Code::result`].
///
/// What text depends on is collected first; text is written only for a kernel that is not there yet.
pub(in crate::array) struct Code<'a> {
    pub(in crate::array) arrays: Arrays<&'a Operand>,
    scalars: SmallVec<[&'a Constant; 4]>,
    steps: SmallVec<[Step<'a>; 4]>,
    /// The numbers of the steps' arguments, one step's behind the other's.
    arguments: SmallVec<[u16; 16]>,
    value: Value<'a>,
    /// Types that nothing of this has, but the kernel's own text names.
    defined: SmallVec<[DType; 3]>,
    /// What the parameters of a kernel of the user's own come to.
    custom: Bound<'a>,
    /// Text of the user's behind all definitions.
    pub(in crate::array) user_preamble: &'a str,
    /// Further classes and functions that the kernel's own text names.
    pub(in crate::array) library: &'static str,
    uses: Uses,
}

/// Memory that an operation uses on a stream, from before its work is put there until after.
#[derive(Default)]
struct Uses(SmallVec<[(Arc<PoolBlock>, Stream); 4]>);

impl Uses {
    fn add(&mut self, memory: &Arc<PoolBlock>, stream: &Stream) -> Result<()> {
        memory.use_on(stream)?;
        self.0.push((memory.clone(), stream.clone()));
        Ok(())
    }
}

impl Drop for Uses {
    fn drop(&mut self) {
        self.0.iter().for_each(|(memory, stream)| memory.used_on(stream));
    }
}

/// What a node of an expression comes to; others are named by their numbers.
enum Step<'a> {
    /// An element of [`Code::arrays`].
    Array(usize),
    /// One of [`Code::scalars`].
    Scalar(usize),
    /// The element of an indexed array whose number the other step gives.
    Gather { array: usize, at: usize },
    /// A value of type `of` computed by `code`, of this part of [`Code::arguments`].
    Apply { of: &'a DType, code: &'static str, arguments: Range<usize> },
}

/// What [`Code::result`] is.
#[derive(Hash)]
enum Value<'a> {
    Step(usize),
    /// CUDA C++ of the user's.
    Custom(&'a str),
}

impl<'a> Code<'a> {
    fn empty(custom: Bound<'a>, user_preamble: &'a str, value: Value<'a>) -> Self {
        Self {
            arrays: Arrays::new(),
            scalars: SmallVec::new(),
            steps: SmallVec::new(),
            arguments: SmallVec::new(),
            value,
            defined: SmallVec::new(),
            custom,
            user_preamble,
            library: "",
            uses: Uses::default(),
        }
    }

    /// The code of `root`.
    ///
    /// # Errors
    /// [`Error::TooLong`] for more than one kernel can hold.
    pub(in crate::array) fn new(root: &'a Arc<Node>) -> Result<Self> {
        let mut code = Self::empty(Bound::default(), "", Value::Step(0));
        code.value = Value::Step(code.include(root)?);
        Ok(code)
    }

    /// The code of the user's expression `value` over bound parameters; `i` is the index.
    pub(in crate::array) fn custom(
        custom: Bound<'a>,
        user_preamble: &'a str,
        value: &'a str,
    ) -> Self {
        Self::empty(custom, user_preamble, Value::Custom(value))
    }

    /// Adds the code of a further expression; the number of its value, for [`Code::name`].
    ///
    /// # Errors
    /// As [`Code::new`].
    pub(in crate::array) fn include(&mut self, root: &'a Arc<Node>) -> Result<usize> {
        let order = Order::of(root);
        let first = self.steps.len();
        let operations = first + order.nodes.len();
        let too_long = Error::TooLong { operations };
        if operations > MOST_OPERATIONS {
            return Err(too_long);
        }
        self.steps.reserve(order.nodes.len());
        for &node in &order.nodes {
            let number = |argument: &Arc<Node>| first + order.number(argument).unwrap_or(0);
            let step = self.step(node, number);
            self.steps.push(step);
        }
        if self.arrays.len() + self.custom.arrays.len() > MOST_ARRAYS
            || self.scalars.len() > MOST_SCALARS
        {
            return Err(too_long);
        }
        Ok(operations - 1)
    }

    /// What `node` comes to; `number` tells the steps of its arguments.
    fn step(&mut self, node: &'a Node, number: impl Fn(&Arc<Node>) -> usize) -> Step<'a> {
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
                Step::Array(at)
            }
            Node::Gather { source, arguments } => {
                let array = self.custom.arrays.len();
                self.indexed(source, true);
                Step::Gather { array, at: arguments.first().map_or(0, number) }
            }
            Node::Scalar(constant) => {
                self.scalars.push(constant);
                Step::Scalar(self.scalars.len() - 1)
            }
            Node::Apply { dtype, code, arguments } => {
                let first = self.arguments.len();
                // As many steps as a kernel can have are counted by 16 bits.
                self.arguments.extend(arguments.iter().map(|argument| number(argument) as u16));
                Step::Apply { of: dtype, code, arguments: first..self.arguments.len() }
            }
        }
    }

    /// Adds an array of which the code indexes elements by their numbers in C order; its name.
    pub(in crate::array) fn indexed(
        &mut self,
        array: &'a Operand,
        constant: bool,
    ) -> Name<'static> {
        let name = Name::Numbered("g", self.custom.arrays.len());
        self.custom.add_array(name, constant, array);
        name
    }

    /// The arrays of which elements are indexed by their numbers.
    pub(in crate::array) fn indexed_arrays(&self) -> &[&'a Operand] {
        &self.custom.arrays
    }

    /// How many nodes its expressions have.
    pub(in crate::array) fn operations(&self) -> usize {
        self.steps.len()
    }

    /// Lets the kernel's own text name a type.
    pub(in crate::array) fn define(&mut self, dtype: DType) {
        self.defined.push(dtype);
    }

    /// What the value of a step is called.
    pub(in crate::array) fn name(&self, step: usize) -> String {
        match self.steps.get(step) {
            Some(Step::Array(array)) => format!("x{array}"),
            Some(Step::Scalar(scalar)) => format!("s{scalar}"),
            Some(Step::Gather { array, at }) => format!("g{array}[{}]", self.name(*at)),
            Some(Step::Apply { .. }) => format!("v{step}"),
            None => String::new(),
        }
    }

    /// The value of its expression, in CUDA C++.
    pub(in crate::array) fn result(&self) -> String {
        match self.value {
            Value::Step(step) => self.name(step),
            Value::Custom(value) => user_code("map expression", &format!("({value}\n)")),
        }
    }

    /// The statements that compute [`Code::result`].
    pub(in crate::array) fn statements(&self) -> String {
        let mut text = String::new();
        for (number, step) in self.steps.iter().enumerate() {
            let Step::Apply { of, code, arguments } = step else { continue };
            let arguments = &self.arguments[arguments.clone()];
            let argument = |at: usize| arguments.get(at).map(|&step| self.name(step.into()));
            let name = |at: usize| argument(at).unwrap_or_default();
            let _ =
                write!(text, "const {} v{number} = {}; ", of.name, fill_in(code, of.name, &name));
        }
        text
    }

    /// The only kernel of a source, as [`Code::compile_kernel`].
    ///
    /// # Errors
    /// As [`Context::generated`].
    pub(in crate::array) fn compile(
        &self,
        context: &Context,
        facts: impl Hash,
        source: impl Fn() -> String,
    ) -> Result<Function> {
        self.compile_kernel(context, facts, GENERATED, source)
    }

    /// The kernel called `kernel` of the source that `source` writes the first time, which stands behind the
    /// definitions that it needs. The source must be the same wherever the code and the `facts` are the same.
    ///
    /// # Errors
    /// As [`Context::generated`].
    pub(in crate::array) fn compile_kernel(
        &self,
        context: &Context,
        facts: impl Hash,
        kernel: &'static str,
        source: impl Fn() -> String,
    ) -> Result<Function> {
        Ok(context.generated(Key::of(&(facts, self)), kernel, || {
            let mut text = self.types() + PRELUDE + self.library;
            if !self.user_preamble.is_empty() {
                text.push_str(&user_code("preamble", self.user_preamble));
            }
            text + &source()
        })?)
    }

    /// All types that it names, each once.
    fn dtypes(&self) -> Vec<DType> {
        let arrays = self.arrays.iter().chain(&self.custom.arrays).map(|array| array.dtype);
        let scalars = self.scalars.iter().map(|constant| constant.dtype);
        let steps = self.steps.iter().filter_map(|step| match step {
            Step::Apply { of, .. } => Some(**of),
            _ => None,
        });
        let mut dtypes = Vec::new();
        for dtype in arrays.chain(scalars).chain(steps).chain(self.defined.iter().copied()) {
            if !dtypes.contains(&dtype) {
                dtypes.push(dtype);
            }
        }
        dtypes
    }

    /// Definitions of the types.
    fn types(&self) -> String {
        let (mut text, dtypes) = (String::new(), self.dtypes());
        for dtype in &dtypes {
            if !dtype.definition.is_empty() && !text.contains(dtype.definition) {
                let _ = writeln!(text, "{}", dtype.definition);
            }
        }
        for DType { name, bytes, align, .. } in &dtypes {
            let _ = writeln!(
                text,
                "static_assert(sizeof({name}) == {bytes} && alignof({name}) == {align}, \
                 \"{name} is laid out otherwise in Rust\");"
            );
        }
        text
    }

    /// Parameters for the arrays and the scalars.
    pub(in crate::array) fn parameters(&self) -> String {
        let arrays = self.arrays.iter().enumerate();
        let arrays = arrays.map(|(k, array)| format!("const {} *a{k}", array.dtype.name));
        let scalars = self.scalars.iter().enumerate();
        let scalars = scalars.map(|(k, constant)| format!("const {} s{k}", constant.dtype.name));
        let own = arrays.chain(scalars).map(|parameter| parameter + ", ");
        let custom = self.custom.parameters.iter().map(ToString::to_string);
        custom.chain(own).collect()
    }

    /// What [`Code::parameters`] get.
    pub(in crate::array) fn arguments(&self) -> Arguments {
        let mut arguments = self.custom.arguments.clone();
        for array in &self.arrays {
            arguments.push(&array.address());
        }
        for constant in &self.scalars {
            arguments.push_bytes(&constant.bytes, constant.dtype.align);
        }
        arguments
    }

    /// Statements that read the arrays; `place` says where in array `k`.
    pub(in crate::array) fn reads(&self, place: impl Fn(usize) -> String) -> String {
        let arrays = self.arrays.iter().enumerate();
        let read = |(k, array): (usize, &&Operand)| {
            format!("const {} x{k} = {}; ", array.dtype.name, place(k))
        };
        arrays.map(read).collect()
    }

    /// The context of the first array of its expressions.
    ///
    /// # Errors
    /// [`Error::NoArrays`].
    pub(in crate::array) fn context(&self) -> Result<&'a Context> {
        let first = self.arrays.first().ok_or(Error::NoArrays { operation: "an expression" })?;
        Ok(&first.context)
    }

    /// The shape of its expressions: that of their arrays, broadcast together.
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    pub(in crate::array) fn shape(&self) -> Result<Axes<usize>> {
        common_shape(self.arrays.iter().map(|array| array.layout.shape()))
    }

    /// The layouts of its arrays.
    pub(in crate::array) fn layouts(&self) -> Arrays<&Layout> {
        self.arrays.iter().map(|array| &*array.layout).collect()
    }

    /// Says that the arrays are used on the stream of `context` by what is put there before this is dropped.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for an array of another device.
    pub(in crate::array) fn use_on(
        &mut self,
        context: &Context,
        operation: &'static str,
    ) -> Result<()> {
        let device = context.device().id();
        for array in self.arrays.iter().chain(&self.custom.arrays) {
            if array.context.device().id() != device {
                return Err(Error::WrongDevice { operation });
            }
            self.uses.add(&array.memory, context.stream())?;
        }
        Ok(())
    }

    /// Says the same of what the code's value is written to, on the stream of `context`.
    ///
    /// # Errors
    /// [`Error::Device`] for an array of another device.
    pub(in crate::array) fn write_on(&mut self, context: &Context, out: &Operand) -> Result<()> {
        self.uses.add(&out.memory, context.stream())
    }
}

/// What the text of all its methods depends on: not which arrays and which scalars there are, but of which types.
impl Hash for Code<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // By its address, as what it never changes: it is long.
        (self.library.as_ptr(), self.library.len(), self.user_preamble).hash(state);
        (&self.steps, &self.arguments, &self.value, &self.custom.parameters).hash(state);
        let arrays = [&self.arrays, &self.custom.arrays];
        let counts = (arrays.map(|arrays| arrays.len()), self.scalars.len(), self.defined.len());
        counts.hash(state);
        arrays.iter().copied().flatten().for_each(|array| array.dtype.facts().hash(state));
        self.scalars.iter().for_each(|constant| constant.dtype.facts().hash(state));
        self.defined.iter().for_each(|dtype| dtype.facts().hash(state));
    }
}

/// How many arguments a step has is enough: which those are, [`Code::arguments`] say for all.
impl Hash for Step<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Array(array) => (0_u8, array).hash(state),
            Self::Scalar(scalar) => (1_u8, scalar).hash(state),
            Self::Gather { array, at } => (2_u8, array, at).hash(state),
            Self::Apply { of, code, arguments } => {
                (3_u8, of.facts(), code, arguments.len()).hash(state);
            }
        }
    }
}

/// `text` on lines of its own, counted from 1 in a file called `<what>` in diagnostics.
pub(in crate::array) fn user_code(what: &str, text: &str) -> String {
    format!("\n#line 1 \"<{what}>\"\n{text}\n#line 1 \"generated.cu\"\n")
}

/// `code` with `$0`, `$1`, ... and `$T` replaced.
fn fill_in(code: &str, of: &str, name: &dyn Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(code.len() + 16);
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let mut characters = after.chars();
        match characters.next() {
            Some('T') => text.push_str(of),
            Some(digit) => text.push_str(&name(digit.to_digit(10).unwrap_or(0) as usize)),
            None => {}
        }
        rest = characters.as_str();
    }
    text + rest
}
