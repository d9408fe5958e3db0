//! Folders of the host's, and images.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{Held, Image, Mount, SandboxError};
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::{Folder, entries, has_shell, image};

use crate::place::{Place, is_possible, path, sh, shell, spec, wait};

tests!(
    mounts_are_read_or_written_as_they_were_asked_for,
    what_is_no_plain_folder_or_file_is_not_mounted,
    an_image_is_a_root_that_nobody_writes_to,
    an_image_cannot_lead_what_is_put_into_it_elsewhere_on_the_host,
    a_mount_within_another_makes_nothing_on_the_host,
    nothing_is_mounted_over_the_agent,
);

fn mount(from: &Path, to: &str, writable: bool) -> Held<Mount> {
    let from = from.canonicalize().expect("a path");
    Mount { from, to: path(to), writable }.open_by_name().expect("it is held")
}

fn mounts_are_read_or_written_as_they_were_asked_for() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let (read, write, file) =
        (place.path().join("read"), place.path().join("write"), place.path().join("file"));
    for folder in [&read, &write] {
        std::fs::create_dir(folder).expect("a folder");
        std::fs::write(folder.join("one"), "of the host's\n").expect("a file");
    }
    std::fs::write(&file, "alone\n").expect("a file");
    // All of it belongs to whoever the sandbox is: only the mount itself is in the way.
    for one in [&read, &read.join("one"), &write, &file] {
        std::os::unix::fs::chown(one, Some(1234), Some(1234)).expect("another owner");
    }
    let mut spec = spec();
    spec.mounts = vec![
        mount(&read, "/srv/deep/read", false),
        mount(&write, "/work/write", true),
        mount(&file, "/tmp/file", false),
    ];
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let all = "cat /srv/deep/read/one /work/write/one /tmp/file; echo of the sandbox > /work/write/two; echo x > /work/own";
        assert_eq!(sh(sandbox.as_ref(), all).await, "of the host's\nof the host's\nalone\n");
        for refused in
            ["echo x > /srv/deep/read/two", "echo x > /tmp/file", "rm -f /srv/deep/read/one", "rm /tmp/file"]
        {
            let result = sandbox.exec(shell(refused)).await.expect("it runs");
            assert_ne!(result.exit.status(), 0, "{refused}");
        }
        sandbox.terminate().await.expect("ended");
    });
    assert_eq!(std::fs::read_to_string(write.join("two")).expect("written"), "of the sandbox\n");
    assert_eq!(std::fs::metadata(write.join("two")).expect("a file").uid(), 1234);
    assert_eq!(std::fs::read_dir(&read).expect("a folder").count(), 1);
    assert!(!write.join("own").exists());
}

fn what_is_no_plain_folder_or_file_is_not_mounted() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let link = place.path().join("link");
    std::os::unix::fs::symlink("/usr", &link).expect("a link");
    wait(async {
        for from in [link.join("share"), link, PathBuf::from("/dev/null"), place.path().join("nothing")] {
            let mount = Mount { from: from.clone(), to: path("/srv/x"), writable: false };
            let refused = mount.open_by_name().err();
            assert!(matches!(refused, Some(SandboxError::Mount { .. })), "{}: {refused:?}", from.display());
        }
        assert_eq!(place.processes(), Vec::<i32>::new());
    });
}

fn an_image_is_a_root_that_nobody_writes_to() {
    requires!("gvisor", is_possible());
    requires!("busybox", has_shell());
    let folder = Place::new();
    let root = image(folder.path());
    let place = Place::with(|options| options.images = Some(Arc::new(Folder(root.clone()))));
    let before = entries(&root);
    let mut spec = spec();
    spec.image = Image::Named("one".to_owned());
    spec.mounts = vec![mount(folder.path(), "/opt/mounted", false)];
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let seen = "cat /etc/issue /etc/more/one /opt/app/two; read x < /etc/hosts; echo $x; ls / | busybox tr '\\n' ' '";
        let seen =
            sh(sandbox.as_ref(), &seen.replace("cat", "busybox cat").replace("ls", "busybox ls")).await;
        assert!(seen.starts_with("an image\none\ntwo\n127.0.0.1 localhost sandbox\n"), "{seen}");
        sh(sandbox.as_ref(), "echo x > /work/x; echo x > /tmp/x; echo x > /var/tmp/x").await;
        for at in ["/etc/x", "/opt/app/x", "/x", "/bin/x", "/var/x"] {
            let result = sandbox.exec(shell(&format!("echo x > {at}"))).await.expect("it runs");
            assert_ne!(result.exit.status(), 0, "{at}");
        }
        sandbox.terminate().await.expect("ended");
    });
    assert_eq!(entries(&root), before);
}

fn an_image_cannot_lead_what_is_put_into_it_elsewhere_on_the_host() {
    let folder = Place::new();
    let target = folder.path().canonicalize().expect("a path").join("of-the-host");
    for (link, to) in [("etc", ""), ("srv", ""), (".agent", ""), (".aside", ""), (".own", "")] {
        std::fs::create_dir(&target).expect("a folder");
        let root = folder.path().canonicalize().expect("a path").join("image");
        std::fs::create_dir(&root).expect("a folder");
        std::os::unix::fs::symlink(target.join(to), root.join(link)).expect("a link");
        let place = Place::with(|options| options.images = Some(Arc::new(Folder(root.clone()))));
        let mut spec = spec();
        spec.image = Image::Named("one".to_owned());
        spec.mounts =
            vec![mount(folder.path(), "/srv/mounted", false), mount(folder.path(), "/work/mounted", false)];
        // It may be refused or stand without the link; nothing of the host's changes either way.
        wait(async { drop(place.create(spec).await) });
        assert_eq!(entries(&target), Vec::<PathBuf>::new(), "{link}");
        std::fs::remove_dir_all(&target).expect("removed");
        std::fs::remove_dir_all(&root).expect("removed");
    }
}

fn a_mount_within_another_makes_nothing_on_the_host() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let (outer, inner) = (place.path().join("outer"), place.path().join("inner"));
    std::fs::create_dir_all(outer.join("there")).expect("a folder");
    std::fs::create_dir(&inner).expect("a folder");
    std::fs::write(inner.join("one"), "one").expect("a file");
    wait(async {
        let with = |to: &str| {
            let mut spec = spec();
            spec.mounts = vec![mount(&outer, "/srv/outer", true), mount(&inner, to, false)];
            spec
        };
        let refused = place.create(with("/srv/outer/new")).await.err();
        assert!(matches!(refused, Some(SandboxError::Mount { .. })), "{refused:?}");
        let sandbox = place.create(with("/srv/outer/there")).await.expect("a sandbox");
        assert_eq!(sh(sandbox.as_ref(), "cat /srv/outer/there/one").await, "one");
    });
    assert_eq!(entries(&outer).len(), 1);
}

/// What is at the place of the agent is started as root of the sandbox's kernel, and believed.
fn nothing_is_mounted_over_the_agent() {
    requires!("gvisor", is_possible());
    let place = Place::new();
    let (agent, said) = (place.path().join("agent"), place.path().join("said"));
    for folder in [&agent, &said] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let program = agent.join("program");
    std::fs::write(
        &program,
        "#!/bin/sh\nid -u > /srv/said/ran; grep CapEff /proc/self/status >> /srv/said/ran\n",
    )
    .expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    wait(async {
        for (from, to) in [(&agent, "/.agent"), (&program, "/.agent/program")] {
            let mut spec = spec();
            spec.mounts = vec![mount(from, to, false), mount(&said, "/srv/said", true)];
            let made = place.create(spec).await.map(|sandbox| sandbox.id());
            let ran = std::fs::read_to_string(said.join("ran")).unwrap_or_default();
            assert_eq!(ran, "", "what was mounted at {to} was started as the agent");
            let error = made.expect_err("it is refused");
            assert!(error.to_string().contains("the sandbox has its own there"), "{error}");
        }
    });
}
