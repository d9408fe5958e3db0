//! Files: written whole, read within credit, listed by name, removed with all that is below.

use bailiwick_sys::Errno;
use bailiwick_wire::agent::{FromAgent, Listed, Stream, ToAgent, WINDOW};

use crate::agent::{Agent, as_first, everywhere};

bailiwick_testkit::tests![
    what_was_written_is_read_back,
    a_file_is_there_only_when_all_of_it_came,
    what_is_given_up_leaves_nothing,
    what_cannot_be_done_says_which_step_failed,
    a_file_longer_than_it_may_be_is_refused,
    what_is_no_file_is_not_waited_for,
    a_folder_is_listed_by_name_in_parts,
    a_folder_is_removed_with_all_that_is_in_it,
    links_are_removed_and_not_followed,
    folders_that_nobody_may_enter_are_removed,
    a_tree_deeper_than_any_path_is_removed,
];

/// A folder of the test's own, removed in the end.
pub(crate) fn in_folder(test: impl Fn(&mut Agent, &str)) {
    everywhere(|agent| {
        let folder = agent.shell("mktemp -d").text().trim().to_owned();
        test(agent, &folder);
        agent.shell(&format!("chmod -R u+rwx {folder}; rm -rf {folder}"));
    });
}

#[track_caller]
pub(crate) fn done(agent: &mut Agent, id: u32) {
    loop {
        match agent.about(id) {
            FromAgent::Done { .. } => return,
            FromAgent::Credit { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
pub(crate) fn failed(agent: &mut Agent, id: u32) -> (String, Errno) {
    loop {
        match agent.about(id) {
            FromAgent::Failed { step, errno, .. } => return (step, Errno::from_raw_os_error(errno)),
            FromAgent::Credit { .. } | FromAgent::Data { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Sends data within the credit that comes.
#[track_caller]
pub(crate) fn send(agent: &mut Agent, id: u32, bytes: &[u8]) {
    let mut credit = WINDOW as usize;
    for part in bytes.chunks(50_000) {
        while credit < part.len() {
            match agent.about(id) {
                FromAgent::Credit { bytes, .. } => credit += bytes as usize,
                other => panic!("{other:?}"),
            }
        }
        credit -= part.len();
        agent.say(&ToAgent::Data { id, bytes: part.to_vec() });
    }
    agent.say(&ToAgent::DataEnd { id });
}

/// Hears data to its end, and gives credit.
#[track_caller]
pub(crate) fn receive(agent: &mut Agent, id: u32) -> Vec<u8> {
    let mut heard = Vec::new();
    loop {
        match agent.about(id) {
            FromAgent::Data { bytes, .. } => {
                let length = u32::try_from(bytes.len()).unwrap();
                agent.say(&ToAgent::Credit { id, stream: Stream::Stdout, bytes: length });
                heard.extend(bytes);
            }
            FromAgent::Done { .. } => return heard,
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn write(agent: &mut Agent, path: &str, mode: u32, bytes: &[u8]) {
    let id = agent.number();
    agent.say(&ToAgent::Write { id, path: path.to_owned(), mode });
    send(agent, id, bytes);
    done(agent, id);
}

fn read(agent: &mut Agent, path: &str, most: u64) -> u32 {
    let id = agent.number();
    agent.say(&ToAgent::Read { id, path: path.to_owned(), most });
    id
}

fn remove(agent: &mut Agent, path: &str) -> u32 {
    let id = agent.number();
    agent.say(&ToAgent::Remove { id, path: path.to_owned() });
    id
}

#[track_caller]
fn list(agent: &mut Agent, path: &str) -> Vec<Listed> {
    let id = agent.number();
    agent.say(&ToAgent::List { id, path: path.to_owned() });
    let mut all = Vec::new();
    loop {
        match agent.about(id) {
            FromAgent::Listed { entries, .. } => {
                assert!(entries.len() <= 256);
                all.extend(entries);
            }
            FromAgent::Done { .. } => return all,
            other => panic!("{other:?}"),
        }
    }
}

fn what_was_written_is_read_back() {
    in_folder(|agent, folder| {
        let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        // The folders above it are made.
        let path = format!("{folder}/a/b/c.bin");
        write(agent, &path, 0o755, &content);
        let id = read(agent, &path, 3_000_000);
        assert!(receive(agent, id) == content);
        assert_eq!(agent.run(&["stat", "-c", "%a", &path]).text(), "755\n");
        write(agent, &path, 0o6644, b"");
        let id = read(agent, &path, 0);
        assert_eq!(receive(agent, id), b"");
        assert_eq!(agent.run(&["stat", "-c", "%a", &path]).text(), "644\n");
    });
}

fn a_file_is_there_only_when_all_of_it_came() {
    in_folder(|agent, folder| {
        let path = format!("{folder}/file");
        write(agent, &path, 0o644, b"old");
        let id = agent.number();
        agent.say(&ToAgent::Write { id, path: path.clone(), mode: 0o600 });
        agent.say(&ToAgent::Data { id, bytes: b"ne".to_vec() });
        assert_eq!(agent.run(&["cat", &path]).text(), "old");
        agent.say(&ToAgent::Data { id, bytes: b"w".to_vec() });
        agent.say(&ToAgent::DataEnd { id });
        done(agent, id);
        assert_eq!(agent.run(&["cat", &path]).text(), "new");
        assert_eq!(agent.run(&["ls", "-A", folder]).text(), "file\n");
    });
}

fn what_is_given_up_leaves_nothing() {
    in_folder(|agent, folder| {
        let id = agent.number();
        agent.say(&ToAgent::Write { id, path: format!("{folder}/file"), mode: 0o600 });
        agent.say(&ToAgent::Data { id, bytes: vec![1; 9000] });
        agent.say(&ToAgent::Cancel { id });
        // What was under way when it was given up is for nobody.
        agent.say(&ToAgent::Data { id, bytes: vec![1; 9000] });
        agent.say(&ToAgent::DataEnd { id });
        assert_eq!(agent.run(&["ls", "-A", folder]).text(), "");
    });
}

fn what_cannot_be_done_says_which_step_failed() {
    in_folder(|agent, folder| {
        agent.shell(&format!("mkdir -p {folder}/full/x; echo text > {folder}/text"));
        let id = agent.number();
        agent.say(&ToAgent::Write { id, path: format!("{folder}/full"), mode: 0o600 });
        agent.say(&ToAgent::DataEnd { id });
        assert_eq!(failed(agent, id), ("put the file in its place".to_owned(), Errno::ISDIR));
        let id = agent.number();
        agent.say(&ToAgent::Write { id, path: format!("{folder}/text/below"), mode: 0o600 });
        assert_eq!(failed(agent, id).1, Errno::NOTDIR);
        for path in ["/", "/..", "/tmp/.."] {
            let id = agent.number();
            agent.say(&ToAgent::Write { id, path: path.to_owned(), mode: 0o600 });
            assert_eq!(failed(agent, id), ("make the file".to_owned(), Errno::ISDIR), "{path}");
            let id = remove(agent, path);
            assert_eq!(failed(agent, id), ("remove".to_owned(), Errno::ISDIR), "{path}");
        }
        let id = read(agent, folder, 9);
        assert_eq!(failed(agent, id), ("read the file".to_owned(), Errno::ISDIR));
        let id = read(agent, &format!("{folder}/none"), 9);
        assert_eq!(failed(agent, id), ("open the file".to_owned(), Errno::NOENT));
        let id = remove(agent, &format!("{folder}/none"));
        assert_eq!(failed(agent, id), ("remove".to_owned(), Errno::NOENT));
        let id = agent.number();
        agent.say(&ToAgent::List { id, path: format!("{folder}/text") });
        assert_eq!(failed(agent, id), ("open the folder".to_owned(), Errno::NOTDIR));
        assert_eq!(agent.run(&["ls", "-A", folder]).text(), "full\ntext\n");
    });
}

fn a_file_longer_than_it_may_be_is_refused() {
    in_folder(|agent, folder| {
        agent.shell(&format!("head -c 1000 /dev/zero > {folder}/file"));
        let id = read(agent, &format!("{folder}/file"), 999);
        assert_eq!(failed(agent, id), ("read the file".to_owned(), Errno::FBIG));
        // One that does not say how long it is.
        let id = read(agent, "/proc/self/status", 10);
        assert_eq!(failed(agent, id), ("read the file".to_owned(), Errno::FBIG));
        let id = read(agent, "/proc/self/status", 100_000);
        assert!(receive(agent, id).starts_with(b"Name:"));
    });
}

fn what_is_no_file_is_not_waited_for() {
    in_folder(|agent, folder| {
        agent.shell(&format!("mkfifo {folder}/pipe"));
        for path in [format!("{folder}/pipe"), "/dev/zero".to_owned()] {
            let id = read(agent, &path, 9);
            assert_eq!(failed(agent, id), ("read what is no file".to_owned(), Errno::INVAL), "{path}");
        }
    });
}

fn a_folder_is_listed_by_name_in_parts() {
    in_folder(|agent, folder| {
        agent.shell(&format!("cd {folder} && mkdir many && cd many && touch $(seq -w 1 700)"));
        agent.shell(&format!("cd {folder} && echo hello > text && ln -s nowhere link && mkfifo pipe && chmod 640 text && touch $(printf 'a\\377b')"));
        let names: Vec<String> =
            list(agent, &format!("{folder}/many")).into_iter().map(|one| one.name).collect();
        assert_eq!(names, (1..=700).map(|number| format!("{number:03}")).collect::<Vec<_>>());
        let all = list(agent, folder);
        let seen: Vec<(&str, char)> = all.iter().map(|one| (one.name.as_str(), one.kind)).collect();
        assert_eq!(seen, [("a\u{fffd}b", 'f'), ("link", 'l'), ("many", 'd'), ("pipe", 'o'), ("text", 'f')]);
        assert_eq!((all[4].bytes, all[4].mode), (6, 0o640));
        assert!(list(agent, "/proc/sys/fs/binfmt_misc").len() < 99);
    });
}

fn a_folder_is_removed_with_all_that_is_in_it() {
    in_folder(|agent, folder| {
        let script = "mkdir -p t/a/b/c t/empty && cd t && touch a/1 a/b/2 a/b/c/3 && mkfifo p && cd a/b && touch $(seq 1 1500) && mkdir $(seq -f d%g 1 200) && touch d7/x d100/y";
        assert_eq!(agent.shell(&format!("cd {folder} && {script}")).code(), 0);
        let id = remove(agent, &format!("{folder}/t"));
        done(agent, id);
        assert_eq!(agent.run(&["ls", "-A", folder]).text(), "");
    });
}

fn links_are_removed_and_not_followed() {
    in_folder(|agent, folder| {
        let script = "mkdir -p kept/in t && touch kept/in/file && ln -s ../kept t/link && ln -s kept top";
        agent.shell(&format!("cd {folder} && {script}"));
        for path in ["t", "top"] {
            let id = remove(agent, &format!("{folder}/{path}"));
            done(agent, id);
        }
        assert_eq!(
            agent.shell(&format!("cd {folder} && find . | sort")).text(),
            ".\n./kept\n./kept/in\n./kept/in/file\n"
        );
    });
}

fn folders_that_nobody_may_enter_are_removed() {
    in_folder(|agent, folder| {
        let script = "mkdir -p t/a/b/c && touch t/a/b/c/file && chmod 000 t/a/b/c t/a/b && chmod 500 t/a && chmod 000 t";
        agent.shell(&format!("cd {folder} && {script}"));
        let id = remove(agent, &format!("{folder}/t"));
        done(agent, id);
        assert_eq!(agent.run(&["ls", "-A", folder]).text(), "");
    });
}

fn a_tree_deeper_than_any_path_is_removed() {
    as_first(|agent| {
        // Far more levels than a path has bytes for, and than a process has descriptors.
        let script = "chdir '/tmp'; for (1..2500) { mkdir 'deep' or die $!; chdir 'deep' or die $! }";
        let went = agent.run(&["perl", "-e", script]);
        assert_eq!(went.code(), 0, "{}", String::from_utf8_lossy(&went.stderr));
        let id = remove(agent, "/tmp/deep");
        done(agent, id);
        assert_eq!(agent.run(&["ls", "-A", "/tmp"]).text(), "");
    });
}
