//! Tests over all of `ptx`: text in, text out, and what is in between.

use super::ast::{Init, Linkage, Module, Statement, Value};
use super::cfg::{BlockId, Cfg, Liveness};
use super::inst::Op;
use super::operand::{Reg, Symbol};
use super::types::{Space, Type};
use super::{parse, print, verify};

/// Registers of all kinds, for single instructions.
const REGISTERS: &str = ".reg .pred %p<4>; .reg .b16 %rs<6>; .reg .b32 %r<10>; .reg .b64 %rd<6>;
    .reg .f32 %f<8>; .reg .f64 %fd<4>; .reg .b128 %q<2>;";

/// A kernel with `body` between its braces.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 4 .b8 table[16];\n.extern .func (.param .b32 r) external(.param .b64 a);
.visible .entry k(.param .u64 out, .param .align 4 .b8 s[12])\n{{\n{REGISTERS}\n{body}\nret;\n}}\n"
    )
}

fn read(text: &str) -> Module {
    match parse(text) {
        Ok(module) => module,
        Err(diagnostics) => panic!("{}\n{text}", diagnostics[0]),
    }
}

fn first_error(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("was accepted:\n{text}"),
        Err(diagnostics) => diagnostics[0].to_string(),
    }
}

/// Instructions as the PTX ISA writes them: each must be read, be without fault, and be printed in the same words.
const INSTRUCTIONS: &str = "
mov.u32 %r1, %tid.x
mov.u32 %r1, %nctaid.z
mov.u32 %r1, %lanemask_lt
mov.u64 %rd1, %clock64
mov.u32 %r1, WARP_SZ
mov.u32 %r1, %envreg12
mov.u64 %rd1, table+8
mov.b64 %rd1, {%r1, %r2}
mov.b64 {%r1, _}, %rd1
mov.b32 %r1, {%rs1, %rs2}
mov.f32 %f1, 0f3F800000
mov.f64 %fd1, 0dBFF0000000000000
mov.pred %p1, %p2
cvta.to.global.u64 %rd1, %rd2
cvta.shared.u64 %rd1, %rd2
isspacep.shared %p1, %rd1
cvt.rn.f32.s32 %f1, %r1
cvt.rzi.s32.f32 %r1, %f1
cvt.rni.f32.f32 %f1, %f2
cvt.sat.f32.f32 %f1, %f2
cvt.rn.ftz.f16.f32 %rs1, %f1
cvt.rn.f16x2.f32 %r1, %f1, %f2
cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2
cvt.sat.u8.s32 %rs1, %r1
cvt.rmi.ftz.f32.f32 %f1, %f2
cvt.s64.s32 %rd1, %r1
cvt.rna.tf32.f32 %r1, %f1
cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4
szext.wrap.s32 %r1, %r2, %r3
add.s32 %r1, %r2, -1
add.sat.s32 %r1, %r2, %r3
add.cc.u32 %r1, %r2, %r3
addc.cc.u32 %r1, %r2, %r3
addc.u32 %r1, %r2, %r3
sub.cc.u32 %r1, %r2, %r3
subc.u32 %r1, %r2, %r3
add.rz.ftz.sat.f32 %f1, %f2, %f3
add.rn.f16x2 %r1, %r2, %r3
mul.lo.s32 %r1, %r2, %r3
mul.wide.u32 %rd1, %r2, 12
mul.hi.u64 %rd1, %rd2, %rd3
mul.rn.f32 %f1, %f2, 0f40000000
mad.lo.s32 %r1, %r2, %r3, %r4
mad.lo.cc.u32 %r1, %r2, %r3, %r4
madc.hi.cc.u32 %r1, %r2, %r3, %r4
mad.hi.sat.s32 %r1, %r2, %r3, %r4
mad.wide.s32 %rd1, %r2, %r3, %rd4
mul24.hi.s32 %r1, %r2, %r3
mad24.lo.u32 %r1, %r2, %r3, %r4
fma.rn.f32 %f1, %f2, %f3, %f4
fma.rn.relu.f16x2 %r1, %r2, %r3, %r4
div.rn.f32 %f1, %f2, %f3
div.approx.ftz.f32 %f1, %f2, %f3
div.full.f32 %f1, %f2, %f3
div.u64 %rd1, %rd2, %rd3
rem.s32 %r1, %r2, %r3
abs.ftz.f32 %f1, %f2
neg.s64 %rd1, %rd2
min.s32 %r1, %r2, %r3
max.NaN.f32 %f1, %f2, %f3
min.xorsign.abs.f32 %f1, %f2, %f3
sad.u32 %r1, %r2, %r3, %r4
rcp.approx.ftz.f64 %fd1, %fd2
sqrt.rn.f32 %f1, %f2
rsqrt.approx.ftz.f32 %f1, %f2
ex2.approx.f32 %f1, %f2
tanh.approx.f32 %f1, %f2
copysign.f32 %f1, %f2, %f3
testp.subnormal.f64 %p1, %fd1
dp4a.s32.u32 %r1, %r2, %r3, %r4
dp2a.hi.u32.u32 %r1, %r2, %r3, %r4
vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4
vadd2.s32.s32.s32.sat %r1, %r2, %r3, %r4
setp.lt.s32 %p1, %r1, %r2
setp.geu.ftz.f32 %p1|%p2, %f1, %f2
setp.eq.and.b32 %p1, %r1, 0, !%p2
setp.gt.f16x2 %p1|%p2, %r1, %r2
set.eq.u32.f32 %r1, %f1, %f2
set.lt.or.f32.s32 %f1, %r1, %r2, %p1
selp.b32 %r1, %r2, 0, %p1
slct.f32.s32 %f1, %f2, %f3, %r1
and.b32 %r1, %r2, 255
xor.pred %p1, %p2, %p3
not.b64 %rd1, %rd2
cnot.b32 %r1, %r2
lop3.b32 %r1, %r2, %r3, %r4, 150
lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 150, %p2
shl.b64 %rd1, %rd2, 3
shr.s32 %r1, %r2, 31
shf.l.wrap.b32 %r1, %r2, %r3, %r4
shf.r.clamp.b32 %r1, %r2, %r3, 8
popc.b64 %r1, %rd1
clz.b32 %r1, %r2
bfind.shiftamt.u32 %r1, %r2
fns.b32 %r1, %r2, %r3, %r4
brev.b32 %r1, %r2
bfe.s32 %r1, %r2, 4, 8
bfi.b64 %rd1, %rd2, %rd3, 0, 32
bmsk.clamp.b32 %r1, %r2, %r3
prmt.b32 %r1, %r2, %r3, 21520
prmt.b32.f4e %r1, %r2, %r3, %r4
ld.param.u64 %rd1, [out]
ld.param.f32 %f1, [s+8]
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]
ld.global.nc.L1::no_allocate.L2::128B.f32 %f1, [%rd1]
ld.volatile.shared.u32 %r1, [dynamic+-4]
ld.acquire.gpu.global.u32 %r1, [%rd1]
ld.const.u8 %rs1, [%rd1]
ld.u8 %r1, [%rd1]
ld.global.cg.v2.u64 {%rd1, %rd2}, [%rd3]
ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2
ldu.global.f32 %f1, [%rd1]
st.global.v2.f32 [%rd1], {%f1, %f2}
st.release.sys.global.u64 [%rd1], %rd2
st.shared.u8 [%r1], %rs1
st.global.wt.u32 [%rd1], 5
atom.global.add.u32 %r1, [%rd1], 1
atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3
atom.add.noftz.f16x2 %r1, [%rd1], %r2
atom.shared.exch.b64 %rd1, [%r1], %rd2
atom.global.add.f64 _, [%rd1], %fd1
atom.global.cas.b16 %rs1, [%rd1], %rs2, %rs3
red.relaxed.gpu.global.add.f32 [%rd1], %f1
prefetch.global.L2 [%rd1]
prefetchu.L1 [%rd1]
cp.async.cg.shared.global [%r1], [%rd1], 16
cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 8, %r2
cp.async.commit_group
cp.async.wait_group 2
cp.async.wait_all
alloca.u64 %rd1, %rd2, 16
stacksave.u64 %rd1
stackrestore.u64 %rd1
bar.sync 0
bar.sync 1, 64
bar.arrive 2, 64
bar.red.popc.u32 %r1, 0, %p1
bar.red.and.pred %p1, 1, 96, !%p2
barrier.sync 3
bar.warp.sync -1
shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1
shfl.sync.idx.b32 %f1, %f2, %r1, 31, %r2
vote.sync.ballot.b32 %r1, %p1, -1
vote.sync.any.pred %p1, !%p2, -1
match.any.sync.b64 %r1, %rd1, -1
match.all.sync.b32 %r1|%p1, %r2, -1
activemask.b32 %r1
redux.sync.add.s32 %r1, %r2, -1
membar.gl
fence.acq_rel.gpu
fence.sc.sys
nanosleep.u32 100
exit
trap
brkpt
pmevent 3
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]
tex.level.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f7}], %f1
tex.grad.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f5, %f6}], {%f1, %f2}, {%f3, %f4}
tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}]
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}]
tld4.g.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]
txq.width.b32 %r1, [%rd1]
suq.height.b32 %r1, [%rd1]
suld.b.2d.v4.b32.trap {%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}]
suld.b.a2d.v2.b16.zero {%rs1, %rs2}, [%rd1, {%r5, %r6, %r7, %r7}]
sust.b.2d.v4.b8.clamp [%rd1, {%r5, %r6}], {%rs1, %rs2, %rs3, %rs4}
sust.p.1d.b32.trap [%rd1, {%r5}], %r1
";

#[test]
fn instructions_print_as_they_were_written() {
    for line in INSTRUCTIONS.lines().filter(|line| !line.is_empty()) {
        let module = read(&kernel(&format!("{line};")));
        let found = verify(&module);
        assert!(found.is_empty(), "{line}: {}", found[0]);
        let printed = print(&module);
        assert!(printed.contains(&format!("\t{line};\n")), "{line} became\n{printed}");
        let unsupported = module.functions[1].body.iter().flat_map(|body| body.instructions());
        for instruction in unsupported {
            assert!(!matches!(instruction.op, Op::Unsupported { .. }), "{line} is not known");
        }
    }
}

#[test]
fn spellings_with_one_meaning_become_one() {
    let pairs = [
        ("barrier.cta.sync.aligned 1, 64", "bar.sync 1, 64"),
        ("bar.cta.sync 1", "bar.sync 1"),
        (
            "cp.async.ca.shared::cta.global [%r1], [%rd1], 4",
            "cp.async.ca.shared.global [%r1], [%rd1], 4",
        ),
        ("atom.add.relaxed.gpu.s32 %r1, [%rd1], 2", "atom.relaxed.gpu.add.s32 %r1, [%rd1], 2"),
        ("and.b32 %r1, %r2, 0xff", "and.b32 %r1, %r2, 255"),
        ("mov.u64 %rd1, 18446744073709551615", "mov.u64 %rd1, -1"),
        ("add.f64 %fd1, %fd2, 1.5", "add.f64 %fd1, %fd2, 0d3FF8000000000000"),
        ("mov.u32 %r1, 017", "mov.u32 %r1, 15"),
    ];
    for (written, printed) in pairs {
        let text = print(&read(&kernel(&format!("{written};"))));
        assert!(text.contains(&format!("\t{printed};\n")), "{written} became\n{text}");
    }
}

#[test]
fn what_is_not_interpreted_is_kept_and_names_itself() {
    let line = "tcgen05.ld.sync.aligned.16x64b.x2.b32 {%r1, %r2}, [%r3+8]";
    let module = read(&kernel(&format!("{{ .reg .b32 %r<4>; {line}; }}")));
    let body = module.functions[1].body.as_ref().expect("it is defined");
    let found = body.instructions().next().expect("there is one");
    assert!(matches!(&found.op, Op::Unsupported { mnemonic } if mnemonic.starts_with("tcgen05")));
    let mut written = Vec::new();
    found.for_each_def(|reg| written.push(body.registers.name(reg)));
    assert_eq!(written, ["%r_1_1", "%r_1_2"], "the scope's own registers");
    assert_eq!(read(&print(&module)), module);
}

/// Two scopes that declare the same names, as `call` sequences and inline assembly do.
const SCOPES: &str = "
{ .param .b64 param0; st.param.b64 [param0+0], %rd1; .param .b32 retval0;
  call.uni (retval0), external, (param0); ld.param.b32 %r1, [retval0+0]; }
{ .reg .pred p; .reg .b32 %r<2>; setp.eq.s32 p, %r1, 1; @p bra AGAIN; add.s32 %r0, %r1, 1; AGAIN: }
{ .reg .pred p; setp.ne.s32 p, %r1, 1; @!p bra AGAIN; bra.uni DONE; AGAIN: }
{ .param .b64 param0; st.param.b64 [param0+0], %rd2; .param .b32 retval0;
  call.uni (retval0), external, (param0); ld.param.b32 %r2, [retval0+0]; }
DONE:
";

#[test]
fn nested_scopes_are_flattened_without_confusion() {
    let module = read(&kernel(SCOPES));
    assert!(verify(&module).is_empty());
    let body = module.functions[1].body.as_ref().expect("it is defined");
    let names: Vec<&str> = body.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["param0", "retval0", "param0_1", "retval0_1"]);
    assert_eq!(body.labels, ["AGAIN", "AGAIN_1", "DONE"]);
    let targets: Vec<u32> =
        body.instructions().filter_map(|i| i.branch_target()).map(|l| l.0).collect();
    assert_eq!(targets, [0, 1, 2]);
    assert_eq!(body.registers.name(Reg(body.registers.len() as u32 - 1)), "p_1");
    assert_eq!(read(&print(&module)), module);
}

const LOCATIONS: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{
.reg .b32 %r<4>;
.loc 1 10 3
.loc 1 11 5
add.s32 %r1, %r2, %r3;
.loc 2 5 7, function_name $L__info_string1, inlined_at 1 11 5
.loc 2 3 9, function_name $L__info_string0, inlined_at 2 5 7
sub.s32 %r1, %r2, %r3;
mul.lo.s32 %r1, %r2, %r3;
.loc 1 12 1
ret;
}
.file 1 \"scene.cu\"
.file 2 \"noise \\\"x\\\".cuh\"
.section .debug_str
{
$L__info_string0:
.b8 104,97,115,104,0
$L__info_string1:
.b8 110,111,105,115,101,0
}
";

#[test]
fn source_locations_carry_the_inlined_calls() {
    let module = read(LOCATIONS);
    let body = module.functions[0].body.as_ref().expect("it is defined");
    let places: Vec<_> = body.instructions().map(|i| i.location.expect("it has one")).collect();
    assert_eq!(places[1], places[2]);
    let deepest = module.location(places[1]).expect("it exists");
    assert_eq!(
        (module.file_name(deepest.file), deepest.line, deepest.column),
        ("noise \"x\".cuh", 3, 9)
    );
    let chain: Vec<_> = module
        .inline_chain(places[1])
        .into_iter()
        .map(|(name, site)| (name, site.file, site.line))
        .collect();
    assert_eq!(chain, [("hash", 2, 5), ("noise", 1, 11)]);
    assert_eq!(module.locations.len(), 4, "10:3 belongs to no instruction");
    assert_eq!(read(&print(&module)), module);
    assert_eq!(body.instructions().map(|i| i.line).collect::<Vec<_>>(), [9, 12, 13, 15]);
}

#[test]
fn variables_keep_their_initialisers() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
.extern .func f(.param .b64 a);
.visible .global .align 4 .b8 a[8] = {255, 1};
.global .align 8 .u64 p[3] = {generic(a)+4, f, -3};
.const .align 4 .f32 c[2] = {0fBF800000, 1.5};
.global .align 1 .b8 m[2] = {0xff(a), 0xff00(a)};
.global .attribute(.managed) .align 4 .u32 g;
.shared .align 16 .v4 .f32 tile[4][2];
.extern .shared .align 16 .b8 dynamic[];";
    let module = read(text);
    let p = module.variable("p").expect("it is declared");
    let Some(Init::List(list)) = &p.init else { panic!("{:?}", p.init) };
    let Init::Value(Value::Address(address)) = &list[0] else { panic!("{:?}", list[0]) };
    assert_eq!((address.symbol, address.offset, address.generic), (Symbol::Variable(0), 4, true));
    assert_eq!(list[2], Init::Value(Value::Int(-3)));
    let tile = module.variable("tile").expect("it is declared");
    assert_eq!((tile.bytes(), tile.alignment(), tile.space), (128, 16, Space::Shared));
    let dynamic = module.variable("dynamic").expect("it is declared");
    assert!(dynamic.is_dynamic() && dynamic.linkage == Linkage::Extern);
    assert_eq!(read(&print(&module)), module);
}

#[test]
fn functions_keep_their_heads() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
.func (.reg .u32 result) twice(.reg .u32 x, .param .align 8 .b8 s[24])
.noreturn
{ add.u32 result, x, x; ret; }
.weak .entry k(.param .u64 .ptr .global .align 16 a)
.maxntid 256, 2, 1
.minnctapersm 2
.pragma \"nounroll\";
{ .reg .b64 %rd<3>; .reg .b32 %r<3>;
  proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
  ts: .branchtargets A, B;
  .param .b32 x; .param .b32 y; .param .b32 r;
  call (r), %rd1, (x, y), proto;
  brx.idx %r1, ts;
  A: .pragma \"nounroll\"; add.s32 %r1, %r1, 1;
  B: ret; }";
    let module = read(text);
    assert!(verify(&module).is_empty(), "{:?}", verify(&module));
    let twice = module.function("twice").expect("it is defined");
    assert_eq!(twice.params[1].bytes(), 24);
    assert_eq!(twice.params[0].reg, Some(Reg(1)));
    let kernel = module.function("k").expect("it is defined");
    assert_eq!(kernel.max_threads(), Some(512));
    let cfg = Cfg::new(kernel.body.as_ref().expect("it has one"));
    assert_eq!(cfg.block(BlockId(0)).successors, [BlockId(1), BlockId(2)]);
    assert_eq!(read(&print(&module)), module);
}

#[test]
fn every_error_is_reported_with_its_place() {
    let text = kernel("add.s32 %r1, %nope, 1;\nfrobnicate.b32 %r1;\nbra NOWHERE;\nmov.u32 %r1, ;");
    let diagnostics = parse(&text).expect_err("it is wrong");
    let line =
        text.lines().position(|line| line.starts_with("add.s32")).expect("it is there") as u32 + 1;
    let found: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            format!("<ptx>:{line}:14: error: register `%nope` is not declared"),
            format!("<ptx>:{}:1: error: unknown instruction `frobnicate.b32`", line + 1),
            format!("<ptx>:{}:14: error: expected an operand, found `;`", line + 3),
            format!("<ptx>:{}:5: error: `NOWHERE` is not declared", line + 2),
        ]
    );
}

#[test]
fn what_cannot_be_read_is_said() {
    assert!(first_error(".version 8").contains("expected a version"));
    assert!(first_error(&kernel("L: L:")).contains("declared twice"));
    assert!(first_error(&kernel(".reg .b32 %r1;")).contains("declared twice"));
    assert!(first_error(&kernel(".reg .b32 %x<99999999>;")).contains("too many"));
    assert!(first_error(&kernel("mul.lo %r1, %r2, %r3;")).contains("lacks"));
    assert!(first_error(&kernel("call nothing;")).contains("no function"));
    assert!(first_error(".visible .entry k() { ret;").contains("the text ends"));
}

#[test]
fn the_verifier_finds_wrong_operands() {
    let cases = [
        ("add.s32 %r1, %r2;", "1 source operands"),
        ("add.s32 %r1, %rd1, %r2;", "`%rd1` is b64, but s32 is needed"),
        ("add.f32 %f1, %f2, %fd1;", "`%fd1` is f64"),
        ("add.s32 5, %r1, %r2;", "cannot be"),
        ("setp.lt.s32 %r1, %r1, %r2;", "but pred is needed"),
        ("ld.global.u64 %r1, [%rd1];", "but u64 is needed"),
        ("ld.global.v2.f32 %f1, [%rd1];", "1 lanes, but 2 are needed"),
        ("ld.global.f32 %f1, [%f2];", "cannot hold an address"),
        ("st.global.u32 %rd1, %r1;", "a memory operand"),
        ("@%r1 bra L;\nL:", "no predicate"),
        ("bra %r1;", "a label"),
        ("call external, (%rd1);", "1 arguments and 0 results"),
        ("mov.b64 %rd1, {%rs1, %rs2};", "b32 is needed"),
        ("mul.s32 %r1, %r2, %r3;", "no such instruction"),
        ("add.rn.s32 %r1, %r2, %r3;", "no such instruction"),
        ("vadd.u32.u32.u32 %r1.b0, %r2, %r3;", "a third source"),
        ("barrier.sync 16;", "no barrier 16"),
        ("bar.sync -1, 32;", "no barrier -1"),
    ];
    for (text, part) in cases {
        let module = read(&kernel(text));
        let found = verify(&module);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].text.contains(part), "{text}: {}", found[0]);
    }
}

#[test]
fn the_verifier_finds_what_does_not_exist() {
    let mut module = read(&kernel("add.s32 %r1, %r2, %r3; bra L; L:"));
    let body = module.functions[1].body.as_mut().expect("it is defined");
    for statement in &mut body.statements {
        if let Statement::Instruction(instruction) = statement {
            instruction.for_each_reg_mut(|reg| reg.0 += 1000);
        }
    }
    body.statements.retain(|statement| !matches!(statement, Statement::Label(_)));
    let found: Vec<String> = verify(&module).iter().map(|d| d.text.clone()).collect();
    assert!(found[0].contains(" does not exist"), "{found:?}");
    assert!(found.last().expect("two").contains("stands 0 times"), "{found:?}");
}

/// A loop with a barrier in it, then a guarded write.
const LOOP: &str = "
mov.u32 %r1, 0; mov.u32 %r2, 5;
HEAD: add.s32 %r1, %r1, %r2; bar.sync 0; setp.lt.s32 %p1, %r1, 100; @%p1 bra HEAD;
mov.u32 %r3, 1; @%p2 mov.u32 %r3, %r4;
st.global.u32 [%rd1], %r3;
bra OUT;
DEAD: mov.u32 %r5, 1;
OUT:
";

#[test]
fn blocks_loops_and_dominators() {
    let module = read(&kernel(LOOP));
    let body = module.functions[1].body.as_ref().expect("it is defined");
    let cfg = Cfg::new(body);
    let successors: Vec<Vec<u32>> =
        cfg.blocks.iter().map(|b| b.successors.iter().map(|id| id.0).collect()).collect();
    assert_eq!(successors, [vec![1], vec![1, 2], vec![4], vec![4], vec![]]);
    assert_eq!(cfg.back_edges, [(BlockId(1), BlockId(1))]);
    assert!(cfg.block(BlockId(1)).is_loop_header);
    assert_eq!(cfg.loop_blocks(BlockId(1)), [BlockId(1)]);
    assert_eq!(cfg.order, [0, 1, 2, 4].map(BlockId));
    assert!(!cfg.is_reachable(BlockId(3)));
    let above: Vec<Option<u32>> = cfg.dominators().iter().map(|id| id.map(|id| id.0)).collect();
    assert_eq!(above, [None, Some(0), Some(1), None, Some(2)]);
}

#[test]
fn registers_live_from_write_to_last_read() {
    let module = read(&kernel(LOOP));
    let body = module.functions[1].body.as_ref().expect("it is defined");
    let cfg = Cfg::new(body);
    let liveness = Liveness::new(body, &cfg, &[]);
    let mut at_barrier = Vec::new();
    liveness.for_each_after(body, &cfg, BlockId(1), |_, instruction, live| {
        if matches!(instruction.op, Op::Bar { .. }) {
            at_barrier = live.iter().map(|reg| body.registers.name(reg)).collect();
        }
    });
    // %p2, %r4 and %rd1 are never written: they are read after the loop.
    assert_eq!(at_barrier, ["%p2", "%r1", "%r2", "%r4", "%rd1"]);
    // A guarded write does not end the old value's life.
    let live = &liveness.live_in[2];
    assert!(live.contains(Reg(2)) && live.len() == 3, "%p2, %r4, %rd1");
}

#[test]
fn types_know_their_width() {
    assert_eq!((Type::F16x2.bytes(), Type::F16x2.element()), (4, Type::F16));
    assert_eq!((Type::Pred.bits(), Type::B128.bits()), (1, 128));
}

/// Whatever is done to a text, reading it gives a module or errors, and a module can be checked and printed.
#[test]
fn damaged_text_never_panics() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below.max(1)
    };
    let whole =
        kernel(&format!("{SCOPES}{LOOP}{}", INSTRUCTIONS.trim().replace('\n', ";\n") + ";"));
    for text in [whole.as_str(), LOCATIONS] {
        for _ in 0..400 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random(4) {
                let (at, from) = (random(bytes.len()), random(bytes.len()));
                match random(5) {
                    0 => bytes.truncate(at),
                    1 => bytes.extend_from_within(
                        from..(from + 40).min(text.len()).min(bytes.len()).max(from),
                    ),
                    2 => drop(bytes.drain(at..(at + random(30)).min(bytes.len()))),
                    3 => bytes.insert(at, b"{}[]();:,@!|<>.%-+\"0_\n"[random(22)]),
                    _ => bytes[at] = random(256) as u8,
                }
                if bytes.is_empty() {
                    break;
                }
            }
            if let Ok(module) = parse(&String::from_utf8_lossy(&bytes)) {
                verify(&module);
                for body in module.functions.iter().filter_map(|f| f.body.as_ref()) {
                    let cfg = Cfg::new(body);
                    Liveness::new(body, &cfg, &[]);
                    cfg.dominators();
                }
                let printed = print(&module);
                assert_eq!(parse(&printed).as_ref(), Ok(&module), "{printed}");
            }
        }
    }
}
