use bailiwick_wire::Entry;

use super::assert_parses;
use crate::lines::ends_line;
use crate::strip_types;

/// A row is a source in which `‹…›` is what becomes blank, and `‹;←…›` what becomes blank but for a `;` at its start.
#[track_caller]
fn check(row: &str) {
    let (mut source, mut expected) = (String::new(), String::new());
    for (index, piece) in row.split(['‹', '›']).enumerate() {
        if index % 2 == 0 {
            source.push_str(piece);
            expected.push_str(piece);
            continue;
        }
        let (mark, gone) = piece.split_once('←').unwrap_or(("", piece));
        source.push_str(gone);
        expected.push_str(mark);
        let blanks = gone.chars().skip(mark.chars().count());
        expected.extend(blanks.map(|one| if ends_line(one) { one } else { ' ' }));
    }
    let stripped = strip_types(&source, Entry::Body).unwrap();
    assert_eq!(stripped, expected, "\n{source}");
    assert_parses(&stripped);
    // Nothing is left to strip.
    assert_eq!(strip_types(&stripped, Entry::Body).unwrap(), stripped);
}

#[test]
fn javascript_stays_as_it_is() {
    for source in [
        "",
        "return 1",
        "const {a: b = 1, ...rest} = await x?.y?.();",
        "label: for (const x of y) { continue label }",
        "class A { static #p = 1; get x() { return this.#p } async *gen() {} static { } }",
        "return `a ${`b ${c}`} d`;",
        "const re = /a<b>c/g, t = a < b, u = c > d;",
        "type = 1; declare = 2; as = 3; of = type;",
        "const o = {public: 1, private() {}, get readonly() { return 1 }};",
        "var interface_ = 1 // : string",
        "x ? (y) : (z)",
        "\"use strict\"; return this",
        "é = '…'; // 😀 : T",
    ] {
        check(source);
    }
}

#[test]
fn annotations_become_blanks() {
    check("let x‹: number› = 1");
    check("let x ‹: number› = 1");
    check("const {a, b}‹: {a: string, b: number}› = c");
    check("let x‹!: string›; let y");
    check("var a‹: A›, b‹: B›;");
    check("function f(a‹: A›, b‹?: B›, c‹: C› = 1, ...d‹: D[]›)‹: E› {}");
    check("const f = (a‹: A›, b‹?›)‹: a is B› => a");
    check("const f = async (a‹: A›)‹: Promise<B>› => a");
    check("try {} catch (e‹: unknown›) {}");
    check("for (const x‹: T› of y) {}");
    check("function f(‹this: Window,› a‹: number›) {}");
    check("function f(‹this: Window›) {}");
    check("const o = { m(a‹: A›)‹: B› {}, get x()‹: C› { return 1 } }");
    check("function assert(x‹: unknown›)‹: asserts x is string› {}");
    check("let f‹: (a: number) => void› = g");
    check("let x‹: typeof import('fs')› = y");
    check("let x‹: `a${string}`› = y");
    check("let x‹: { a: 1; b(): 2 }[] | undefined› = y");
    check("let x‹: /* why */ number› /* kept */ = 1");
}

#[test]
fn generics_and_type_arguments_become_blanks() {
    check("function f‹<T extends {a: B}>›(x‹: T›)‹: T› { return x }");
    check("const f = ‹<T,>›(x‹: T›) => x");
    check("return f‹<string>›(x)");
    check("return new Map‹<string, Array<Map<a, b>>>›()");
    check("return new Map‹;←<string, number>›");
    check("return tag‹<T>›`x`");
    check("return a?.‹<T>›(b)?.c‹<U>›()");
    check("const g = f‹<string>›;");
    check("class A‹<T>› extends B‹<T> implements C<T>, D› {}");
    check("class A ‹implements B› {}");
    check("return a < b || c > (d)");
    check("const x = f‹<A>›(1) + g‹<B>›(2)");
}

#[test]
fn casts_become_blanks() {
    check("return x ‹as T›;");
    check("return x ‹as const satisfies U›;");
    check("return (x ‹as any›).y");
    check("return x‹!›.y‹!›.z‹!›[0]‹!›()");
    check("x‹!› = 1; x‹!›++; (y ‹as any›) = 2");
    check("return ‹<T>›x");
    check("return ‹<T><U>›x");
    check("for (const a of b ‹as C[]›) {}");
    check("return a ? b ‹as C› : d ‹;←as E›");
    check("f(a ‹as B›, c ‹satisfies D›)");
    check("return { a: b ‹as C›, [d ‹as string›]: e‹!› }");
    check("return `${a ‹as string›}`");
    check("const f = () => a ‹;←as B›");
    check("const y = typeof‹<T>›x");
    check("return a ‹as number› + 1");
    check("return a == b ‹;←as T›");
    check("return (a + b ‹as number›) * c");
}

#[test]
fn declarations_of_types_leave_a_semicolon() {
    check("‹;←type A = B;›");
    check("‹;←interface A { b: C }›\nreturn 1");
    check("‹;←interface A {\n  b: C\n}›\nreturn 1");
    check("‹;←declare const x: number;›\nreturn x");
    check("‹;←declare function f(): void›\nreturn f");
    check("‹;←declare class A {}›");
    check("‹;←declare module 'x' { }›");
    check("‹;←declare global { }›");
    check("‹;←declare enum A { B }›");
    check("‹;←declare namespace A { const b: 1 }›");
    check("‹;←namespace A { export type B = 1; interface C {} }›\nreturn 1");
    check("‹abstract› class A { ‹;←abstract b(): void;› c() {} }");
    check("‹;←function f(a: string): void;›\nfunction f(a) {}");
    check("if (a) { ‹;←type B = 1› }");
}

#[test]
fn members_of_classes_lose_their_types_and_modifiers() {
    check("class A { x‹: number› = 1 }");
    check("class A { x‹?: number›; y‹!: string› }");
    check("class A { ‹private readonly› x = 1 }");
    check("class A { static ‹override› y‹: T› }");
    check("class A { ‹public› async m‹?›(a‹: B›)‹: C› {} }");
    check("class A { ‹;←declare x: T;› y }");
    check("class A { ‹;←[k: string]: T;› y }");
    check("class A { ‹;←m(): void; ›‹;←m(a: B): void;› m(a) {} }");
    check("class A { ‹;←constructor(a);› constructor(a) {} }");
    check("class A { constructor(private_‹: B›) {} }");
    check("class A { ‹protected› get x()‹: T› { return 1 } }");
    check("class A { ['a']‹?: T›; #b‹: U› = 1 }");
    check("class A { public; private = 1; readonly() {} }");
    check("return class‹<T> implements B› { }");
}

#[test]
fn lines_do_not_grow_together() {
    check("let a = b\n‹;←type T = c›\n(d)");
    check("let a = b ‹;←as T›\n(c)");
    check("a ‹;←as T›\n[b] = c");
    check("a ‹;←satisfies T›\n`x`");
    check("a ‹as B ›‹;←as C›\n(d)");
    check("let x‹: T›\n[a] = b");
    check("if (a) b ‹;←as C›\nelse d");
    check("for (let a = b ‹as C›; a; ) {}");
    check("const f = () => a ‹;←as B›\n(c)");
    check("class A { x = 1\n ‹;←private› ['y'] = 2 }");
    check("class A { x = 1\n ‹;←public› *g() {} }");
    check("class A { x = y ‹;←as T›\n ['z'] = 1 }");
    check("class A { x = 1\n ‹;←declare y: T›\n ['z'] = 1 }");
    check("class A { get‹;←: T›\n foo() {} }");
    check("class A { static‹;←?: T›\n foo() {} }");
}

#[test]
fn what_must_stay_on_one_line_does() {
    check("const f = (a‹): \n  ›‹)←T› => a");
    check("const f = (a‹)\n: ›‹)←T› => a");
    check("const f = (a‹): {\n  b: C\n›‹)←}› => a");
    check("const f = async ‹(←<\n  T\n>(›a) => a");
    check("return ‹(←<\n  T,\n>(›a‹: T›) => a");
    check("const f = ‹<\n T>›(a) => a");
}

#[test]
fn a_brace_that_was_a_value_stays_one() {
    check("const f = () => ‹0||←<T>›{a: 1}");
    check("‹0,←<any>›{a: 1}.b()");
    check("‹0,←<any>›function () {}()");
    check("‹<any>›(x)");
    check("const f = () => ‹<A>›‹0||←<B>›{}");
    check("const x = ‹<T>›{}");
    check("const f = () => { return ‹<T>›{} }");
}

#[test]
fn columns_are_those_of_characters() {
    check("let é‹: Ünïcode<'😀'>› = 1");
    check("let x‹: 'a\u{2028}b'› = 1");
    check("‹;←type A = {\r\n  b: C\r\n}›\r\nreturn 1");
    check("const f = (a‹):\n›‹)←É› => a");
    check("let a‹: T›\t= 1");
}

#[test]
fn every_entry_is_stripped_in_its_own_frame() {
    #[track_caller]
    fn check(entry: Entry, source: &str, expected: &str) {
        assert_eq!(strip_types(source, entry).unwrap(), expected.replace('·', " "));
    }
    check(Entry::Expression, "await x as T", "await x ····");
    check(Entry::Expression, "a as A, b as B // c", "a ····, b ···· // c");
    check(Entry::Expression, "{a: 1 as T}", "{a: 1 ····}");
    check(Entry::Script, "var x: T = 1", "var x··· = 1");
    check(Entry::Emit, "emit(read_input() as string)", "emit(read_input() ·········)");
    check(
        Entry::Execute,
        "import type {A} from 'b'\nfunction execute() {}",
        ";·······················\nfunction execute() {}",
    );
    check(Entry::Execute, "export type {A}\nfunction execute() {}", ";··············\nfunction execute() {}");
    check(
        Entry::Execute,
        "export interface A {}\nfunction execute() {}",
        ";····················\nfunction execute() {}",
    );
    check(Entry::Execute, "export {type A, execute}", "export {······· execute}");
    check(Entry::Execute, "export default abstract class A {}", "export default ········ class A {}");
}
