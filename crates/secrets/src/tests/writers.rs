//! Several at once: no update is lost, and no reader ever sees a key and a store that do not fit.

use super::{Machine, at, named, secret};

#[test]
fn no_update_is_lost_between_writers_readers_and_changes_of_key() {
    let machine = Machine::with_three();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let machine = &machine;
            scope.spawn(move || {
                let secrets = machine.open().unwrap();
                for number in 0..6 {
                    let name = named(&format!("W{writer}_{number}"));
                    secrets.set(&name, &secret(&format!("value {number} of {writer}")), at(number)).unwrap();
                }
                secrets.remove(&named(&format!("W{writer}_0"))).unwrap();
            });
        }
        scope.spawn(|| (0..6).for_each(|_| machine.open().unwrap().rotate_key().unwrap()));
        scope.spawn(|| {
            for _ in 0..60 {
                let value = machine.open().unwrap().get(&named("C")).unwrap().unwrap();
                assert_eq!(value.expose_secret(), "pässwörd☂");
            }
        });
    });
    let values = machine.values().unwrap();
    assert_eq!(values.len(), 3 + 4 * 5, "{values:?}");
    for writer in 0..4 {
        for number in 1..6 {
            let expected = (format!("W{writer}_{number}"), format!("value {number} of {writer}"));
            assert!(values.contains(&expected), "{expected:?}");
        }
    }
}
