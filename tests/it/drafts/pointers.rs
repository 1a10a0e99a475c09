//! Structures behind pointers: they have the numbers of the moment at which they are read.

use super::left_open::{are_known, are_marked};

#[test]
fn structures_behind_pointers_are_those_of_the_moment() {
    let before = "struct P { int a; }; void other(P *); void set(P *q) { q->a = 7; }";
    are_marked(
        before,
        &[
            "P p{3}; P *r = &p; p.a = 4; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; p = P{4}; k<<<1, 32>>>(d, r->a);",
            "P z{5}; P *r = &z; z.a = 6; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; r->a = 9; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; (*r).a = 9; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; r->a++; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; *r = P{9}; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; int *q = &r->a; *q = 9; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; other(r); k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; set(r); k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p, *s = &p; s->a = 9; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *s = &p; P *r = &p; s->a = 9; k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; set(&p); k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; auto change = [&] { r->a = 9; }; change(); k<<<1, 32>>>(d, r->a);",
            "P p{3}; P *r = &p; for (int i = 0; i < 2; i++) { k<<<1, 32>>>(d, r->a); r->a = 5; }",
        ],
    );
    are_known(before, "3", &["P p{3}; P *r = &p; k<<<1, 32>>>(d, r->a);"]);
    are_known(before, "5", &["P p{3}, z{5}; P *r = &p; r = &z; k<<<1, 32>>>(d, r->a);"]);
}

#[test]
fn functions_may_set_what_their_pointers_point_to() {
    for body in [
        "q->a = 9; k<<<1, 32>>>(d, q->a);",
        "other(q); k<<<1, 32>>>(d, q->a);",
        "*q = P{9}; k<<<1, 32>>>(d, q->a);",
        "P *r = q; r->a = 9; k<<<1, 32>>>(d, q->a);",
    ] {
        let before = format!(
            "struct P {{ int a; }}; void other(P *); void run(float *d, P *q) {{ {body} }}"
        );
        are_marked(&before, &["P p{3}; run(d, &p);"]);
    }
    let reads = "struct P { int a, b; }; void run(float *d, const P *q) {
        printf(\"%d\", q->b); float *x = new float[q->a]; k<<<1, 32>>>(d, q->a); }";
    are_known(reads, "3", &["P p{3, 4}; run(d, &p);"]);
}
