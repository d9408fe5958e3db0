//! Files of a sandbox from outside.

use bailiwick_sandbox::EntryKind;
use bytes::Bytes;

use super::{Place, Subject, checks};
use crate::{path, sh, wait};

checks!(files_are_written_read_listed_and_removed, where_it_has_nothing_of_its_own_nothing_is_written);

fn files_are_written_read_listed_and_removed(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        let long: Vec<u8> = (0..3_000_000_u32).map(|n| u8::try_from(n % 253).unwrap_or(0)).collect();
        let long = Bytes::from(long);
        for folder in ["/work/a/b", "/tmp", "/var/tmp", "/dev/shm"] {
            let file = path(&format!("{folder}/long"));
            sandbox.write_file(&file, long.clone(), false).await.expect("written");
            assert!(sandbox.read_file(&file, 4_000_000).await.expect("read") == long, "{folder}");
        }
        let script = Bytes::from_static(b"#!/bin/sh\necho ran\n");
        sandbox.write_file(&path("/work/run"), script, true).await.expect("written");
        assert_eq!(sh(sandbox.as_ref(), "./run; stat -c %s a/b/long; ls /tmp").await, "ran\n3000000\nlong\n");
        let listed = sandbox.list(&path("/work")).await.expect("listed");
        let names: Vec<_> = listed.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        assert_eq!(names, [("a", EntryKind::Folder), ("run", EntryKind::File)]);
        sandbox.remove(&path("/work/a")).await.expect("removed");
        sandbox.remove(&path("/tmp/long")).await.expect("removed");
        assert_eq!(sh(sandbox.as_ref(), "ls -A /work /tmp").await, "/tmp:\n\n/work:\nrun\n");
    });
}

fn where_it_has_nothing_of_its_own_nothing_is_written(subject: &dyn Subject) {
    let place = Place::new(subject);
    wait(async {
        let sandbox = place.sandbox().await;
        for at in ["/usr/one", "/one", "/etc/one", "/bin/sh"] {
            let refused = sandbox.write_file(&path(at), Bytes::from_static(b"x"), false).await;
            assert!(refused.is_err(), "{at}: {refused:?}");
        }
    });
}
