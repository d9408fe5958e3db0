//! `FormData`, and how it is sent.

use super::rows;

#[test]
fn a_form_is_a_list_of_pairs() {
    rows(
        "const f = new FormData(); f.append('a', 1); f.append('b', '\\ud800'); f.append('a', null); f.append('file', new Uint8Array([1, 2]), 'x.bin')",
        &[
            ("f.get('a')", r#""1""#),
            ("f.getAll('a')", r#"["1","null"]"#),
            ("f.get('b')", r#""�""#),
            ("f.get('none')", "null"),
            ("f.getAll('none')", "[]"),
            ("[f.has('a'), f.has('c')]", "[true,false]"),
            ("[f.get('file') instanceof Uint8Array, ...f.get('file')]", "[true,1,2]"),
            ("(f.get('file')[0] = 9, [...f.get('file')])", "[1,2]"),
            ("[...f.keys()]", r#"["a","b","a","file"]"#),
            ("[...f].length", "4"),
            ("[...f.values()].slice(0, 3)", r#"["1","�","null"]"#),
            ("(f.set('a', 'x'), [...f.keys()])", r#"["a","b","file"]"#),
            ("(f.set('n', new ArrayBuffer(3)), f.get('n').length)", "3"),
            ("(f.delete('file'), [...f.keys()])", r#"["a","b","n"]"#),
            ("f.append('a')", "!TypeError"),
            ("f.append('a', 'text', 'name')", "!TypeError: FormData.append: only bytes take a file name"),
            ("f.set('a', 'text', undefined)", "!TypeError"),
            ("new FormData({})", "!TypeError"),
            ("FormData.prototype.get.call({}, 'a')", "!TypeError"),
            ("Object.prototype.toString.call(f)", r#""[object FormData]""#),
        ],
    );
}

#[test]
fn a_form_is_sent_in_parts() {
    rows(
        "const sent = async make => { const f = new FormData(); make(f); const r = new Request('https://e.test/', { method: 'POST', body: f });
           const type = r.headers.get('content-type'); const boundary = type.split('boundary=')[1]; return (await r.text()).replaceAll(boundary, 'B') };
         const type = async () => { const f = new FormData(); return new Response(f).headers.get('content-type') }",
        &[
            ("await sent(f => {})", "\"--B--\\r\\n\""),
            (
                "await sent(f => f.append('a', 'x'))",
                "\"--B\\r\\nContent-Disposition: form-data; name=\\\"a\\\"\\r\\n\\r\\nx\\r\\n--B--\\r\\n\"",
            ),
            (
                "await sent(f => f.append('a\"\\n\\r\\n\\rb', 'x\\ny\\rz\\r\\n'))",
                "\"--B\\r\\nContent-Disposition: form-data; name=\\\"a%22%0D%0A%0D%0A%0D%0Ab\\\"\\r\\n\\r\\nx\\r\\ny\\r\\nz\\r\\n\\r\\n--B--\\r\\n\"",
            ),
            (
                "await sent(f => { f.append('p', new Uint8Array([104, 105]), 'n\"\\n€.txt'); f.append('q', '1') })",
                "\"--B\\r\\nContent-Disposition: form-data; name=\\\"p\\\"; filename=\\\"n%22%0A€.txt\\\"\\r\\nContent-Type: application/octet-stream\\r\\n\\r\\nhi\\r\\n--B\\r\\nContent-Disposition: form-data; name=\\\"q\\\"\\r\\n\\r\\n1\\r\\n--B--\\r\\n\"",
            ),
            (
                "await sent(f => f.append('p', new ArrayBuffer(0)))",
                "\"--B\\r\\nContent-Disposition: form-data; name=\\\"p\\\"; filename=\\\"blob\\\"\\r\\nContent-Type: application/octet-stream\\r\\n\\r\\n\\r\\n--B--\\r\\n\"",
            ),
            ("/^multipart\\/form-data; boundary=----formdata-[-0-9a-f]{36}$/.test(await type())", "true"),
            ("(await type()) === (await type())", "false"),
        ],
    );
}

#[test]
fn a_form_is_read_where_it_is_urlencoded() {
    rows(
        "const form = async path => [...await (await fetch('https://e.test' + path)).formData()]",
        &[
            ("await form('/form')", r#"[["a","1"],["b","x y z"],["a","€"],["c",""]]"#),
            ("await form('/multipart')", "!TypeError: A body of multipart/form-data can be sent"),
            ("await form('/json')", "!TypeError: The body is no form"),
            (
                "[...await new Response(new URLSearchParams({ a: '&=', b: '+' })).formData()]",
                r#"[["a","&="],["b","+"]]"#,
            ),
            ("await new Response('x').formData()", "!TypeError"),
        ],
    );
}
