//! Everything an image can be imported from.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::{Arc, Mutex};

use bailiwick_image::{Phase, Source, Watcher};
use bailiwick_sandbox::{Images as _, Unpacked as _};
use serde_json::json;
use tar::EntryType;

use crate::made::{HERE, Layer, Made, Place, get, gzip, named, part, put, run, xz};

fn layer() -> Layer {
    Layer::new().folder("etc").file("etc/name", "debian").link("bin", "usr/bin")
}

#[track_caller]
fn holds(place: &Place, name: &str) {
    let root = place.root(name);
    assert_eq!(get(&root.join("etc/name")), "debian");
    assert_eq!(std::fs::read_link(root.join("bin")).expect("a link").to_str(), Some("usr/bin"));
    assert_eq!(place.count("staging"), 0);
}

#[test]
fn an_archive_of_a_root_file_system_is_an_image_packed_or_not() {
    let plain = layer().done();
    let packed = [
        ("plain", plain.clone()),
        ("gzip", gzip(&plain)),
        ("zstd", zstd::encode_all(&*plain, 1).expect("packs")),
        ("xz", xz(&plain)),
        ("xz-twice", [xz(plain.get(..512).expect("a block")), xz(plain.get(512..).expect("more"))].concat()),
        ("twice", [gzip(plain.get(..512).expect("a block")), gzip(plain.get(512..).expect("more"))].concat()),
    ];
    let place = Place::new();
    for (name, bytes) in packed {
        let path = place.path(name);
        put(&path, &bytes);
        let source = Source::at(&path).expect("a source");
        assert_eq!(source, Source::RootFs(path.into()), "{name}");
        place.import(source, name).expect(name);
        holds(&place, name);
    }
    // However it was packed, it is unpacked once.
    assert_eq!(std::fs::read_dir(place.path("images/trees")).expect("a folder").count(), 1);
}

#[test]
fn what_is_packed_otherwise_is_named() {
    let place = Place::new();
    for (bytes, word) in [(&b"LZIP\x01abc"[..], "lzip"), (b"BZh91AY", "bzip2")] {
        put(&place.path("packed"), bytes);
        let error = Source::at(&place.path("packed")).expect_err(word);
        assert!(error.to_string().contains(word), "{error}");
    }
    put(&place.path("text"), "no archive at all\n".repeat(100).as_bytes());
    Source::at(&place.path("text")).expect_err("it is no archive");
    Source::at(&place.path("nothing")).expect_err("it is not there");
    put(&place.path("empty"), b"");
    let empty =
        place.import(Source::at(&place.path("empty")).expect("a source"), "empty").expect("an empty root");
    assert_eq!(empty.left_out, bailiwick_image::LeftOut::default());
}

#[test]
fn what_docker_save_wrote_is_an_image() {
    let plain = layer().done();
    let over = Layer::new().file("over", "x").done();
    let made = Made::packed(&[plain.clone(), over.clone()], vec![plain.clone(), over.clone()]);
    let config = made.config.to_string();
    let hex = bailiwick_image::Digest::of(config.as_bytes()).to_string().replace("sha256:", "");
    let manifest = json!([{"Config": format!("{hex}.json"), "RepoTags": ["x:1"], "Layers": [format!("{hex}/layer.tar"), "over/layer.tar"]}]);
    let archive = |manifest: &str| {
        Layer::new()
            .file(&format!("{hex}.json"), &config)
            .bytes(EntryType::Regular, format!("{hex}/layer.tar").as_bytes(), b"", 0o644, &plain)
            .bytes(EntryType::Regular, b"over/layer.tar", b"", 0o644, &over)
            .file("manifest.json", manifest)
            .file("repositories", "{}")
            .done()
    };
    let place = Place::new();
    for (name, bytes) in
        [("saved", archive(&manifest.to_string())), ("packed", gzip(&archive(&manifest.to_string())))]
    {
        put(&place.path(name), &bytes);
        let source = Source::at(&place.path(name)).expect("a source");
        assert_eq!(source, Source::Archive(place.path(name).into()));
        let image = place.import(source, name).expect("it is taken");
        assert_eq!(image.layers, 2);
        assert_eq!(image.config.cmd, ["/bin/sh"]);
        holds(&place, name);
    }
    let wrong = [
        (json!([]).to_string(), "0 images"),
        (json!([{"Config": "x.json", "Layers": []}]).to_string(), "not there"),
        (json!([{"Config": format!("{hex}.json"), "Layers": ["../../etc/passwd", "x"]}]).to_string(), "not in the archive"),
        (json!([{"Config": format!("{hex}.json"), "Layers": ["over/layer.tar", format!("{hex}/layer.tar")]}]).to_string(), "unpacked"),
        ("{".to_owned(), "cannot be read"),
    ];
    for (manifest, why) in wrong {
        let place = Place::new();
        put(&place.path("saved"), &archive(&manifest));
        let error = place.import(Source::Archive(place.path("saved").into()), "x").expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
        place.is_untouched();
    }
}

/// Files of a folder as an archive.
fn packed(folder: &std::path::Path) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_dir_all(".", folder).expect("packs");
    archive.into_inner().expect("packs")
}

#[test]
fn an_oci_layout_is_an_image_as_a_folder_and_as_an_archive() {
    let place = Place::new();
    let layout = place.path("layout");
    Made::of(vec![layer()]).layout(&layout);
    assert_eq!(Source::at(&layout).expect("a source"), Source::Layout(layout.clone().into()));
    let first = place.import(Source::Layout(layout.clone().into()), "folder").expect("it is taken");
    put(&place.path("tar"), &packed(&layout));
    let source = Source::at(&place.path("tar")).expect("a source");
    assert_eq!(source, Source::Archive(place.path("tar").into()));
    let second = place.import(source, "archive").expect("it is taken");
    assert_eq!(first.digest, second.digest);
    holds(&place, "folder");
    holds(&place, "archive");
}

#[test]
fn an_index_in_an_index_leads_to_what_runs_here_and_no_further() {
    let place = Place::new();
    let layout = place.path("layout");
    let (mut blobs, manifest) = Made::of(vec![layer()]).settled();
    let mut entry = part(&manifest);
    entry["platform"] = json!({"os": "linux", "architecture": HERE});
    let mut other = part(b"other");
    other["platform"] = json!({"os": "linux", "architecture": "mips"});
    let mut index = json!({"schemaVersion": 2, "manifests": [other, entry]}).to_string().into_bytes();
    blobs.push((bailiwick_image::Digest::of(&manifest), manifest));
    std::fs::create_dir_all(layout.join("blobs/sha256")).expect("a folder");
    put(&layout.join("oci-layout"), b"{}");
    for round in 0..6 {
        put(&layout.join("index.json"), &index);
        for (digest, bytes) in &blobs {
            put(&layout.join("blobs/sha256").join(digest.to_string().replace("sha256:", "")), bytes);
        }
        let outcome = place.import(Source::at(&layout).expect("a source"), "it");
        if round < 3 {
            outcome.expect("it is taken");
        } else {
            assert!(outcome.expect_err("too deep").to_string().contains("on and on"));
        }
        let outer = json!({"schemaVersion": 2, "manifests": [part(&index)]}).to_string().into_bytes();
        blobs.push((bailiwick_image::Digest::of(&index), std::mem::replace(&mut index, outer)));
    }
}

#[test]
fn a_layout_with_links_in_it_leads_nowhere() {
    let place = Place::new();
    let layout = place.path("layout");
    let made = Made::of(vec![layer()]);
    let blob = layout.join("blobs/sha256").join(made.blobs[0].0.to_string().replace("sha256:", ""));
    made.layout(&layout);
    let elsewhere = place.path("elsewhere");
    std::fs::rename(&blob, &elsewhere).expect("it moves");
    std::os::unix::fs::symlink(&elsewhere, &blob).expect("a link");
    place.import(Source::Layout(layout.into()), "it").expect_err("a link");
    place.is_untouched();
}

#[test]
fn a_folder_is_copied_as_it_is() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let from = place.path("from");
    std::fs::create_dir_all(from.join("etc/deep")).expect("a folder");
    put(&from.join("etc/name"), b"debian");
    put(&from.join("etc/deep/tool"), b"#!");
    std::fs::set_permissions(from.join("etc/deep/tool"), std::fs::Permissions::from_mode(0o4750))
        .expect("a mode");
    std::fs::hard_link(from.join("etc/name"), from.join("twin")).expect("a link");
    std::os::unix::fs::symlink("usr/bin", from.join("bin")).expect("a link");
    std::os::unix::fs::symlink(place.path("outside"), from.join("out")).expect("a link");
    put(&from.join(std::ffi::OsStr::from_bytes(b"\xff")), b"odd");
    put(&from.join("n".repeat(200)), b"long");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        from.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .expect("a pipe");
    let source = Source::at(&from).expect("a source");
    assert_eq!(source, Source::Folder(from.clone().into()));
    let first = place.import(source.clone(), "it").expect("it is taken");
    holds(&place, "it");
    let root = place.root("it");
    assert_eq!(get(&root.join("etc/deep/tool")), "#!");
    assert_eq!(
        root.join("etc/deep/tool").metadata().expect("it is there").permissions().mode() & 0o7777,
        0o755
    );
    assert_eq!(
        root.join("etc/name").metadata().expect("it is there").ino(),
        root.join("twin").metadata().expect("it is there").ino()
    );
    assert_eq!(std::fs::read_link(root.join("out")).expect("a link"), place.path("outside"));
    assert_eq!(get(&root.join(std::ffi::OsStr::from_bytes(b"\xff"))), "odd");
    assert_eq!(get(&root.join("n".repeat(200))), "long");
    assert!(root.join("pipe").symlink_metadata().is_err());
    let again = place.import(source, "again").expect("it is taken");
    assert_eq!(first.digest, again.digest, "the same folder is the same image");
    put(&from.join(".wh.etc"), b"");
    let error = place.import(Source::Folder(from.into()), "it").expect_err("a whiteout");
    assert!(error.to_string().contains(".wh."), "{error}");
    holds(&place, "it");
}

#[test]
fn what_an_image_says_about_itself_is_kept() {
    let place = Place::new();
    let mut made = Made::of(vec![layer()]);
    made.config["config"]["Entrypoint"] = json!(["/usr/bin/env", "--"]);
    made.config["config"]["User"] = json!("1000:1000");
    let image = place.take(made).expect("it is taken");
    assert_eq!(image.config.entrypoint, ["/usr/bin/env", "--"]);
    assert_eq!(image.config.user.as_deref(), Some("1000:1000"));
    assert_eq!(run(place.store.list()).expect("a list"), std::slice::from_ref(&image));
    let held = run(place.store.find("it:1")).expect("it is here");
    let variables: Vec<_> = held.variables().iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(variables, ["PATH=/bin", "GREETING=hello there"]);
    assert_eq!(held.workdir(), Some("/srv"));
    assert_eq!(held.digest(), image.digest.to_string());
    assert_eq!(run(place.store.hold(held.digest())).expect("by its digest").root(), held.root());
}

#[test]
fn how_far_it_is_is_told() {
    let place = Place::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let watcher = Watcher::new(move |progress| told.lock().expect("no panic").push(progress));
    put(&place.path("tar"), &layer().file("big", &"x".repeat(1 << 20)).done());
    run(place.store.import(Source::RootFs(place.path("tar").into()), &named("it"), &watcher))
        .expect("it is taken");
    let heard = heard.lock().expect("no panic");
    for phase in [Phase::Reading, Phase::Unpacking] {
        let last = heard.iter().rfind(|one| one.phase == phase).expect("it was told");
        assert_eq!(Some(last.done), last.total, "{phase:?}");
    }
}
