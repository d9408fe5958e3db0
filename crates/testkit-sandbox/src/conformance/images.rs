//! Images as roots.

use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_sandbox::{Image, SandboxSpec};
use bailiwick_testkit::requires;

use super::mounts::mount;
use super::{Claims, ImageRoot, Place, Subject, checks};
use crate::{Folder, entries, has_shell, image, sh, shell, wait};

checks!(
    an_image_is_the_root_and_nothing_of_it_changes if has_images,
    an_image_cannot_lead_what_is_put_into_it_elsewhere_on_the_host if has_images,
);

fn has_images(claims: &Claims) -> bool {
    claims.image_root.is_some()
}

fn an_image_is_the_root_and_nothing_of_it_changes(subject: &dyn Subject) {
    requires!("busybox", has_shell());
    let folder = tempfile::tempdir().expect("a directory");
    let root = image(folder.path());
    let place = Place::with(subject, |setup| setup.images = Some(Arc::new(Folder(root.clone()))));
    let before = entries(&root);
    let mut spec = SandboxSpec { image: Image::Named("one".to_owned()), ..place.spec() };
    spec.mounts = vec![mount(folder.path(), "/opt/mounted", false)];
    wait(async {
        let sandbox = place.create(spec).await.expect("a sandbox");
        let seen = "busybox cat /etc/issue /etc/more/one /opt/app/two; read x < /etc/hosts; echo $x";
        assert_eq!(sh(sandbox.as_ref(), seen).await, "an image\none\ntwo\n127.0.0.1 localhost sandbox\n");
        sh(sandbox.as_ref(), "echo x > /work/x; echo x > /tmp/x; echo x > /var/tmp/x").await;
        let refused = sandbox.exec(shell("echo x > /opt/mounted/x")).await.expect("it runs");
        assert_ne!(refused.exit.status(), 0);
        if subject.claims().image_root == Some(ImageRoot::ReadOnly) {
            for at in ["/etc/x", "/opt/app/x", "/opt/app/two", "/x", "/bin/x", "/var/x"] {
                let result = sandbox.exec(shell(&format!("echo x > {at}"))).await.expect("it runs");
                assert_ne!(result.exit.status(), 0, "{at}");
            }
        } else {
            let change = "echo x > /etc/x; echo x >> /opt/app/two; busybox rm /etc/issue; busybox rm -r /etc/more; echo x > /x";
            sh(sandbox.as_ref(), change).await;
            let changed =
                "busybox cat /opt/app/two /x; busybox ls /etc/issue /etc/more 2>/dev/null || echo gone";
            assert_eq!(sh(sandbox.as_ref(), changed).await, "two\nx\nx\ngone\n");
        }
        sandbox.terminate().await.expect("ended");
    });
    assert_eq!(entries(&root), before);
    assert_eq!(std::fs::read_to_string(root.join("opt/app/two")).expect("a file"), "two\n");
}

fn an_image_cannot_lead_what_is_put_into_it_elsewhere_on_the_host(subject: &dyn Subject) {
    let folder = tempfile::tempdir().expect("a directory");
    let above = folder.path().canonicalize().expect("a path");
    let (target, root) = (above.join("of-the-host"), above.join("image"));
    std::fs::create_dir(&target).expect("a directory");
    std::fs::create_dir(&root).expect("a directory");
    let place = Place::with(subject, |setup| setup.images = Some(Arc::new(Folder(root.clone()))));
    let mut spec = SandboxSpec { image: Image::Named("one".to_owned()), ..place.spec() };
    spec.mounts = vec![mount(&above, "/srv/mounted", false), mount(&above, "/work/mounted", false)];
    // Where mounts and files are put, and what backends have in a root for themselves: each alone, and all at once.
    let links = ["etc", "srv", "dev", "work", "var", ".agent", ".aside", ".own", ".old", "served", "scratch"];
    let each = links.iter().map(std::slice::from_ref);
    for links in each.chain([&links[..]]) {
        for link in links {
            std::os::unix::fs::symlink(&target, root.join(link)).expect("a link");
        }
        // It may be refused or stand without the links; nothing of the host's changes either way.
        wait(async { drop(place.create(spec.clone()).await) });
        assert_eq!(entries(&target), Vec::<PathBuf>::new(), "{links:?}");
        for link in links {
            std::fs::remove_file(root.join(link)).expect("removed");
        }
    }
}
