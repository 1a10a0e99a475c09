//! The logs are NVRTC 13.5's, as it wrote them.

use super::*;

fn shown(log: &str, failed: bool) -> Vec<String> {
    parse(log, "t.cu", 9, failed).iter().map(ToString::to_string).collect()
}

#[test]
fn errors_and_warnings_have_line_and_column() {
    let log = "t.cu(3): error: identifier \"foo\" is undefined\n  \tfoo = 1;\n  \t^\n\n\
               t.cu(4): error: identifier \"bar\" is undefined\n      p[0] = bar(2);\n             ^\n\n\
               t.cu(2): warning #177-D: variable \"unused\" was declared but never referenced\n    int unused;\n        ^\n\n\
               Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
               2 errors detected in the compilation of \"t.cu\".\n";
    let expected = [
        "t.cu:3:2: error: identifier \"foo\" is undefined",
        "t.cu:4:12: error: identifier \"bar\" is undefined",
        "t.cu:2:7: warning: variable \"unused\" was declared but never referenced [#177-D]",
    ];
    assert_eq!(shown(log, true), expected);
}

#[test]
fn columns_count_characters() {
    let log = "t.cu(1): error: identifier \"foo\" is undefined\n\
               \x20 __global__ void k(float*p){ /* üü */ foo; }\n\
               \x20                                        ^\n\n\
               1 error detected in the compilation of \"t.cu\".\n";
    assert_eq!(shown(log, true), ["t.cu:1:38: error: identifier \"foo\" is undefined"]);
}

#[test]
fn a_missing_header_is_an_error_on_its_line() {
    let log = "t.cu(1): catastrophic error: cannot open source file \"nope.h\"\n  #include \"nope.h\"\n                   ^\n\n\
               1 catastrophic error detected in the compilation of \"t.cu\".\nCompilation terminated.\n";
    assert_eq!(shown(log, true), ["t.cu:1:18: error: cannot open source file \"nope.h\""]);
}

#[test]
fn instantiations_become_notes_on_their_lines() {
    let log = "warpaint/a.cuh(1): error: expression must have class type but it has type \"int\"\n\
               \x20 template<class T> struct A{ __device__ static void f(T t){ t.x(); } };\n\
               \x20                                                            ^\n\
               \x20         detected during:\n\
               \x20           instantiation of \"void A<T>::f(T) [with T=int]\" at line 2\n\
               \x20           instantiation of \"void g(T) [with T=int]\" at line 3 of t.cu\n\n\
               1 error detected in the compilation of \"t.cu\".\n";
    let expected = [
        "warpaint/a.cuh:1:60: error: expression must have class type but it has type \"int\"",
        "warpaint/a.cuh:2: note: during instantiation of \"void A<T>::f(T) [with T=int]\"",
        "t.cu:3: note: during instantiation of \"void g(T) [with T=int]\"",
    ];
    assert_eq!(shown(log, true), expected);
}

#[test]
fn text_over_several_lines_stays_together_and_notes_stand_alone() {
    let log = "t.cu(4): error: no instance of overloaded function \"f\" matches the argument list\n\
               \x20           argument types are: (int)\n   f(1);\n   ^\n\
               t.cu(2): note #3322-D: number of parameters of function \"f(int, int)\" does not match the call\n\
               \x20 __device__ void f(int,int){}\n                  ^\n\n\
               t.cu(1): error: static assertion failed with \"no\nway\"\n\
               \x20 static_assert(sizeof(T)==1, \"no\\nway\");\n  ^\n\
               \x20         detected during instantiation of \"void f(T) [with T=int]\" at line 77 of other.cu\n";
    let expected = [
        "t.cu:4:2: error: no instance of overloaded function \"f\" matches the argument list\nargument types are: (int)",
        "t.cu:2:17: note: number of parameters of function \"f(int, int)\" does not match the call [#3322-D]",
        "t.cu:1:1: error: static assertion failed with \"no\nway\"",
        "other.cu:77: note: during instantiation of \"void f(T) [with T=int]\"",
    ];
    assert_eq!(shown(log, true), expected);
}

#[test]
fn an_unclosed_brace_is_placed_at_the_end() {
    let log = "At end of source: error: expected a \"}\"\nt.cu(1): note #3196-D: to match this \"{\"\n\
               \x20 __global__ void k(int*p){\n                          ^\n\n\
               1 error detected in the compilation of \"t.cu\".\n";
    let expected =
        ["t.cu:9: error: expected a \"}\"", "t.cu:1:25: note: to match this \"{\" [#3196-D]"];
    assert_eq!(shown(log, true), expected);
}

#[test]
fn a_wrong_kernel_name_is_told_once() {
    let log = "__nv_name_map(3): error: identifier \"Q\" is undefined\n  #pragma nv_mangled_name k<Q>\n                            ^\n\n\
               __nv_name_map(3): error: Error in parsing name expression for lowered name lookup. Input name expression was: \" k < Q >\"\n  #pragma nv_mangled_name k<Q>\n                          ^\n\n\
               __nv_name_map(4): error: identifier \"zz\" is undefined\n  #pragma nv_mangled_name zz\n                          ^\n\n\
               __nv_name_map(4): error: Error in parsing name expression for lowered name lookup. Input name expression was: \" zz\"\n  #pragma nv_mangled_name zz\n                          ^\n\n\
               4 errors detected in the compilation of \"t.cu\".\n";
    let expected = [
        "t.cu: error: kernel name `k<Q>`: identifier \"Q\" is undefined",
        "t.cu: error: kernel name `zz`: identifier \"zz\" is undefined",
    ];
    assert_eq!(shown(log, true), expected);
}

#[test]
fn tools_speak_of_the_whole_file() {
    let log = "nvrtc: error: unrecognized option --bogus found\n\
               nvrtc: warning: \"--std (-std)=c++17\" followed by \"--std (-std)=c++20\"\n\
               ptxas fatal   : Unresolved extern function 'f'\n\
               ptxas /tmp/a.ptx, line 12; error   : Unknown symbol 'x'\n\
               ptxas info    : 0 bytes gmem\n";
    let expected = [
        "t.cu: error: nvrtc: unrecognized option --bogus found",
        "t.cu: warning: nvrtc: \"--std (-std)=c++17\" followed by \"--std (-std)=c++20\"",
        "t.cu: error: ptxas: Unresolved extern function 'f'",
        "t.cu: error: ptxas: Unknown symbol 'x'",
        "t.cu: note: ptxas: 0 bytes gmem",
    ];
    assert_eq!(shown(log, true), expected);
}

#[test]
fn brief_logs_and_odd_file_names_are_read() {
    let log = "t.cu(1): error: identifier \"foo\" is undefined\nkérn/ü (1).cuh(2): error: identifier \"bar\" is undefined\n\
               t.cu(3): catastrophic error: #error directive: see a(3): error: b\n\
               3 errors detected in the compilation of \"t.cu\".\n";
    let expected = [
        "t.cu:1: error: identifier \"foo\" is undefined",
        "kérn/ü (1).cuh:2: error: identifier \"bar\" is undefined",
        "t.cu:3: error: #error directive: see a(3): error: b",
    ];
    assert_eq!(shown(log, true), expected);
    let log = "a(3): error: b.cu(1): error: identifier \"foo\" is undefined\n";
    let found = parse(log, "a(3): error: b.cu", 1, true);
    assert_eq!(found[0].to_string(), "a(3): error: b.cu:1: error: identifier \"foo\" is undefined");
}

#[test]
fn nothing_is_lost() {
    assert_eq!(
        shown("Segmentation fault\n  here\n", true),
        ["t.cu: error: Segmentation fault\n  here"]
    );
    assert_eq!(shown("hello\n", false), ["t.cu: note: hello"]);
    assert_eq!(shown("", true), ["t.cu: error: the compiler failed and did not say why"]);
    assert!(shown("", false).is_empty());
    let only_warning = "t.cu(1): warning #1-D: last line of file ends without a newline\n";
    assert!(has_errors(&parse(only_warning, "t.cu", 1, true)));
}

#[test]
fn an_unmarked_function_is_explained() {
    let log = "t.cu(1): error: A function without execution space annotations (__host__/__device__/__global__) is considered a host function, and host functions are not allowed in JIT mode. Consider using -default-device flag to process unannotated functions as __device__ functions in JIT mode\n  void f(){}\n       ^\n\n";
    let expected = "t.cu:1:6: error: a function without __global__ or __device__ belongs to the host, and there is no host code here: write __device__ before it";
    assert_eq!(shown(log, true), [expected]);
}

#[test]
fn warnings_in_the_toolkits_headers_are_left_out() {
    let of_headers = "/opt/cuda/include/cccl/cuda/std/cstdint(118): warning #47-D: incompatible redefinition of macro \"INT8_C\" (declared at line 54 of cstdint)\n  #  define INT8_C(X)   ((::int_least8_t)(X))\n            ^\n\n\
                      /opt/cuda/include/x.h(1): note #3196-D: of the same warning\n\n";
    let remark =
        "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n";
    let own = "t.cu(2): warning #177-D: variable \"unused\" was declared but never referenced\n    int unused;\n        ^\n\n";
    let error = "/opt/cuda/include/x.h(7): error: identifier \"foo\" is undefined\n";
    let folders = [PathBuf::from("/opt/cuda/include")];
    let left = |log: &str| without_warnings_below(log, "t.cu", &folders);
    assert_eq!(left(&format!("{of_headers}{remark}")), "");
    assert_eq!(left(&format!("{of_headers}{own}{remark}")), format!("{own}{remark}"));
    assert_eq!(left(&format!("{own}{of_headers}{error}")), format!("{own}{error}"));
    assert_eq!(without_warnings_below(of_headers, "t.cu", &[]), of_headers);
}
