//! `bailiwick image …`: what sandboxes can begin with. The process that owns the data folder has the images; these
//! commands ask it.

use std::sync::Arc;

use bailiwick_core::images::{Collected, Image as Kept};
use bailiwick_core::{Action, Deaf, Listener, Reply};
use serde_json::json;

use super::exec::NO_CELLS;
use crate::desk::{At, Person, at_desk, caller};
use crate::failure::Failure;
use crate::render::bar::Bar;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, faint, good, plain, strong, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::image::{Image, Import, Pull, Rm};

/// `bailiwick image …`
pub(crate) fn image(screen: &mut Screen, session: &Session, what: &Image) -> Result<u8, Failure> {
    match what {
        Image::Ls => list(screen, session),
        Image::Pull(Pull { image }) => {
            bring(screen, session, Action::ImagePull { image: image.clone() }, "pulled")
        }
        Image::Import(Import { from, name }) => {
            let from = session.environment.working_folder.join(from);
            // What was typed may go up; what is asked for says where it leads.
            let from = from.canonicalize().unwrap_or(from);
            bring(screen, session, Action::ImageImport { from, name: name.clone() }, "imported")
        }
        Image::Rm(what) => remove(screen, session, what),
    }
}

fn at<T>(session: &Session, job: impl AsyncFnOnce(&At) -> Result<T, Failure>) -> Result<T, Failure> {
    not_at_a_server(session)?;
    at_desk(session, &NO_CELLS, job)
}

async fn ask(desk: &At, listener: Arc<dyn Listener>, action: Action) -> Result<Reply, Failure> {
    Ok(desk.perform(caller(Person::Nobody, listener), action).await?)
}

fn list(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let images = at(session, async |desk| match ask(desk, Arc::new(Deaf), Action::ImageList).await? {
        Reply::Images(images) => Ok(images),
        _ => Err(Failure::StrangeReply("images")),
    })?;
    if screen.wants_json() {
        screen.json(&json!({"images": images}));
        return Ok(0);
    }
    if images.is_empty() {
        screen.line(&[plain("there are no images")]);
        return Ok(0);
    }
    let mut table = Table::new(&["NAME", "SIZE", "LAYERS", "RUNS", "DIGEST"]);
    for Kept { name, digest, bytes, layers, config, .. } in &images {
        let words: Vec<_> = config.entrypoint.iter().chain(&config.cmd).map(String::as_str).collect();
        table.row(vec![
            Cell::new(name, strong),
            Cell::new(roughly(*bytes), plain),
            Cell::new(layers.to_string(), plain),
            Cell::new(if words.is_empty() { "-".to_owned() } else { words.join(" ") }, plain),
            Cell::new(digest.to_string(), faint),
        ]);
    }
    table.show(screen);
    Ok(0)
}

/// Has an image brought in, and shows how far that is where somebody watches.
fn bring(screen: &mut Screen, session: &Session, action: Action, how: &str) -> Result<u8, Failure> {
    let bar = Arc::new(Bar::new(screen.wants_json() || screen.is_quiet()));
    let listener = Arc::clone(&bar);
    let brought = at(session, async |desk| match ask(desk, listener, action).await? {
        Reply::Image(image) => Ok(image),
        _ => Err(Failure::StrangeReply("an image")),
    });
    bar.end();
    let image = brought?;
    if screen.wants_json() {
        screen.json(&json!(image));
        return Ok(0);
    }
    let Kept { name, bytes, left_out, .. } = &*image;
    screen.line(&[strong(name), plain(" "), good(how), faint(&format!(", {}", roughly(*bytes)))]);
    let parts = [
        (left_out.special, "devices, pipes and the like are left out"),
        (left_out.set_id, "files lost their set-user-id or set-group-id bit"),
        (left_out.attributes, "extended attributes are left out"),
    ];
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0 && !screen.is_quiet()) {
        to_stderr(&[warning("note: "), plain(&format!("{count} {what}"))]);
    }
    Ok(0)
}

fn remove(screen: &mut Screen, session: &Session, Rm { images }: &Rm) -> Result<u8, Failure> {
    let mut all = Collected::default();
    at(session, async |desk| {
        for image in images {
            let action = Action::ImageRemove { image: image.clone() };
            let Reply::ImageRemoved(gone) = ask(desk, Arc::new(Deaf), action).await? else {
                return Err(Failure::StrangeReply("what was removed"));
            };
            all.blobs += gone.blobs;
            all.trees += gone.trees;
            all.bytes += gone.bytes;
            all.in_use = gone.in_use;
            if !screen.wants_json() {
                let freed = format!(", {} freed", roughly(gone.bytes));
                screen.line(&[plain(image), plain(" "), good("removed"), faint(&freed)]);
            }
        }
        Ok(())
    })?;
    if screen.wants_json() {
        screen.json(&json!({"removed": images, "collected": all}));
    } else if all.in_use > 0 && !screen.is_quiet() {
        let text =
            format!("{} in use; their files go when nobody uses them and images change next", all.in_use);
        to_stderr(&[warning("note: "), plain(&text)]);
    }
    Ok(0)
}

/// A size as people like it.
fn roughly(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// Says that images cannot be asked of a server.
fn not_at_a_server(session: &Session) -> Result<(), Failure> {
    if !session.asks_a_server() {
        return Ok(());
    }
    Err(Failure::Waits {
        message: "images cannot be asked of a server over HTTP yet".to_owned(),
        hint:
            "leave out --server and BAILIWICK_SERVER: on the server's own machine, its data folder is enough"
                .to_owned(),
    })
}
