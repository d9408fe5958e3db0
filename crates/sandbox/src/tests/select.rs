//! Selection: never below the floor, never without what is demanded, and an error that says what was tried.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bailiwick_types::{ErrorCode, Tier, WallStatus};
use proptest::prelude::*;

use super::fake::{Answers, Fake, World, absent, available, report, wallpart};
use crate::backend::PROBE_DEADLINE;
use crate::limits::Limit;
use crate::select::ALONE;
use crate::{Available, Backend, Backends, Demand, Location, SandboxError, SandboxSpec, judge};

fn backends(all: impl IntoIterator<Item = Fake>) -> Backends {
    Backends::new(all.into_iter().map(|fake| Arc::new(fake) as Arc<dyn Backend>))
}

fn usual() -> [Fake; 4] {
    [
        Fake::new("process", Tier::Process, 10),
        Fake::new("container", Tier::Container, 50),
        Fake::new("gvisor", Tier::UserKernel, 60),
        Fake::new("microvm", Tier::MicroVm, 100),
    ]
}

fn without(demand: Demand) -> Answers {
    let mut report = report(WallStatus::Enforced);
    report.retain(|part| part.demand != demand.name());
    available(report)
}

fn typed_memory() -> SandboxSpec {
    let mut spec = SandboxSpec::default();
    spec.limits = spec.limits.with(Limit::Memory, "64M").unwrap();
    spec
}

#[track_caller]
fn tried(error: SandboxError) -> Vec<(String, String)> {
    assert_eq!(error.code(), ErrorCode::Unenforceable);
    let SandboxError::NoneFits(none) = error else { panic!("{error}") };
    none.tried.into_iter().map(|tried| (tried.backend, tried.why)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_preferred_one_has_the_highest_priority() {
    let spec = SandboxSpec::default();
    assert_eq!(backends(usual()).preferred(&spec).await.unwrap().id(), "microvm");
    let [process, container, gvisor, microvm] = usual();
    let some = backends([
        process,
        container.answering(absent("no engine")),
        gvisor,
        microvm.answering(absent("no KVM")),
    ]);
    assert_eq!(some.preferred(&spec).await.unwrap().id(), "gvisor");
}

#[tokio::test(start_paused = true)]
async fn the_strongest_at_or_above_the_floor_is_selected_whatever_its_priority() {
    let spec = SandboxSpec::default();
    let all = || {
        backends([
            Fake::new("weak", Tier::Process, 999),
            Fake::new("strong", Tier::UserKernel, 1),
            Fake::new("middle", Tier::Container, 500),
        ])
    };
    for floor in [Tier::Process, Tier::Container, Tier::UserKernel] {
        assert_eq!(all().select(floor, None, &spec).await.unwrap().id(), "strong");
    }
    let error = all().select(Tier::MicroVm, None, &spec).await.unwrap_err();
    assert!(error.to_string().contains("at MICRO_VM or stronger"), "{error}");
    for (_, why) in tried(error) {
        assert_eq!(why, "it is below MICRO_VM");
    }
}

#[tokio::test(start_paused = true)]
async fn ties_go_by_priority_and_then_by_name() {
    let spec = SandboxSpec::default();
    let all = backends([
        Fake::new("c", Tier::Container, 5),
        Fake::new("b", Tier::Container, 7),
        Fake::new("a", Tier::Container, 7),
    ]);
    assert_eq!(all.select(Tier::Process, None, &spec).await.unwrap().id(), "a");
    assert_eq!(all.preferred(&spec).await.unwrap().id(), "a");
}

#[tokio::test(start_paused = true)]
async fn the_error_says_why_each_was_not_good_enough() {
    let [process, mut container, gvisor, microvm] = usual();
    container.runs = false;
    let remote = Fake { location: Location::Remote, ..Fake::new("remote", Tier::MicroVm, 1) };
    let all = backends([
        process,
        container,
        gvisor.answering(absent("runsc is not installed")),
        microvm.answering(without(Demand::Memory)),
        remote,
        Fake::new("deaf", Tier::MicroVm, 2).answering(Answers::Never),
        Fake::new("broken", Tier::MicroVm, 3).answering(Answers::Panics),
    ]);
    let begun = tokio::time::Instant::now();
    let error = all.select(Tier::Container, Some(Location::Here), &typed_memory()).await.unwrap_err();
    assert_eq!(begun.elapsed(), PROBE_DEADLINE, "one that hangs keeps nobody longer than that");
    let hint = concat!(
        "microvm: leave out the limit on memory: the preset's is held as far as this machine can; ",
        "gvisor: mend it; ",
        "bailiwick doctor tells what each backend holds here, and what would give the rest",
    );
    assert_eq!(error.hint().unwrap(), hint);
    let expected = [
        ("microvm", "it does not hold memory (absent: nothing)"),
        ("broken", "its look at this machine failed by a mistake of ours"),
        ("deaf", "it did not answer in time"),
        ("gvisor", "runsc is not installed"),
        ("container", "the backend `container` does not offer that"),
        ("process", "it is below CONTAINER"),
        ("remote", "it does not run here"),
    ];
    let expected = expected.map(|(backend, why)| (backend.to_owned(), why.to_owned()));
    assert_eq!(tried(error), expected);
    assert_eq!(tried(backends([]).preferred(&SandboxSpec::default()).await.unwrap_err()), []);
}

#[tokio::test(start_paused = true)]
async fn one_that_holds_what_is_demanded_goes_before_a_stronger_one_that_does_not() {
    let all = || {
        let [process, _, _, microvm] = usual();
        backends([process, microvm.answering(without(Demand::Memory))])
    };
    assert_eq!(all().preferred(&SandboxSpec::default()).await.unwrap().id(), "microvm", "nobody insists");
    assert_eq!(all().preferred(&typed_memory()).await.unwrap().id(), "process");
    assert!(all().select(Tier::Container, None, &typed_memory()).await.is_err(), "and never below the floor");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_probe_that_is_not_needed() {
    let [process, _, _, microvm] = usual();
    let all = backends([process.answering(Answers::Never), microvm]);
    let begun = tokio::time::Instant::now();
    assert_eq!(all.preferred(&SandboxSpec::default()).await.unwrap().id(), "microvm");
    assert!(begun.elapsed().is_zero());
}

/// How often each was looked at.
fn looks<const N: usize>(worlds: &[Arc<World>; N]) -> [usize; N] {
    worlds.each_ref().map(|world| world.looks.load(Ordering::SeqCst))
}

fn worlds<const N: usize>(fakes: &[Fake; N]) -> [Arc<World>; N] {
    fakes.each_ref().map(|fake| fake.world.clone())
}

#[tokio::test(start_paused = true)]
async fn nobody_looks_who_comes_after_one_that_is_good_enough() {
    let spec = SandboxSpec::default();
    let fakes = usual();
    let worlds = worlds(&fakes);
    let all = backends(fakes);
    assert_eq!(all.preferred(&spec).await.unwrap().id(), "microvm");
    assert_eq!(all.select(Tier::Container, None, &spec).await.unwrap().id(), "microvm");
    assert_eq!(looks(&worlds), [0, 0, 0, 2]);
}

#[tokio::test(start_paused = true)]
async fn one_that_says_no_is_followed_by_the_next_alone() {
    let [process, container, gvisor, microvm] = usual();
    let fakes = [process, container, gvisor, microvm.answering(absent("no KVM"))];
    let worlds = worlds(&fakes);
    assert_eq!(backends(fakes).preferred(&SandboxSpec::default()).await.unwrap().id(), "gvisor");
    assert_eq!(looks(&worlds), [0, 0, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn many_that_hang_cost_little_more_than_the_time_of_one() {
    let all =
        backends((0..20).map(|n| Fake::new(&format!("b{n}"), Tier::Process, n).answering(Answers::Never)));
    let begun = tokio::time::Instant::now();
    assert_eq!(tried(all.preferred(&SandboxSpec::default()).await.unwrap_err()).len(), 20);
    assert_eq!(begun.elapsed(), ALONE + PROBE_DEADLINE);
    let begun = tokio::time::Instant::now();
    for (_, probe) in all.survey().await {
        assert!(matches!(probe.availability, Available::No { .. }));
    }
    assert_eq!(begun.elapsed(), PROBE_DEADLINE);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_slow_by_its_operators_wish_is_waited_for_as_long_as_it_says() {
    let slow = Fake { patience: PROBE_DEADLINE * 6, ..Fake::new("slow", Tier::MicroVm, 1) };
    let all = backends([
        slow.answering(Answers::Never),
        Fake::new("deaf", Tier::MicroVm, 2).answering(Answers::Never),
    ]);
    let begun = tokio::time::Instant::now();
    assert_eq!(tried(all.preferred(&SandboxSpec::default()).await.unwrap_err()).len(), 2);
    assert_eq!(begun.elapsed(), ALONE + PROBE_DEADLINE * 6);
}

#[tokio::test(start_paused = true)]
async fn remote_is_a_place_and_not_a_strength() {
    let spec = SandboxSpec::default();
    let remote = || Fake { location: Location::Remote, ..Fake::new("remote", Tier::Container, 1) };
    let all = backends([Fake::new("microvm", Tier::MicroVm, 100), remote()]);
    let pick = async |floor, location| {
        all.select(floor, location, &spec).await.map(|backend| backend.id().to_owned())
    };
    assert_eq!(pick(Tier::Process, Some(Location::Remote)).await.unwrap(), "remote");
    assert_eq!(pick(Tier::Process, Some(Location::Here)).await.unwrap(), "microvm");
    assert!(pick(Tier::UserKernel, Some(Location::Remote)).await.is_err());
}

/// A machine elsewhere that says how strong it is when it is asked.
fn elsewhere(tier: Tier) -> Fake {
    let remote = Fake::new("remote", tier, 1);
    Fake { location: Location::Remote, hoped: Some(Tier::MicroVm), ..remote }
}

#[tokio::test(start_paused = true)]
async fn a_tier_that_only_a_look_tells_is_what_the_look_told() {
    let spec = SandboxSpec::default();
    let pick = async |told, floor, location| {
        let all = backends([Fake::new("gvisor", Tier::UserKernel, 60), elsewhere(told)]);
        all.select(floor, location, &spec).await.map(|backend| backend.id().to_owned())
    };
    assert_eq!(pick(Tier::MicroVm, Tier::MicroVm, None).await.unwrap(), "remote");
    assert_eq!(pick(Tier::MicroVm, Tier::Process, Some(Location::Remote)).await.unwrap(), "remote");
    // It might have been stronger, and is not.
    assert_eq!(pick(Tier::Container, Tier::Process, None).await.unwrap(), "gvisor");
    let error = pick(Tier::Container, Tier::UserKernel, Some(Location::Remote)).await.unwrap_err();
    let tried = tried(error);
    assert!(tried.contains(&("remote".to_owned(), "it is below USER_KERNEL".to_owned())), "{tried:?}");
}

/// Picks with a floor, and by priority, and says how often another machine was asked meanwhile.
async fn check_elsewhere(here: Fake, picked: &str, asked: usize, after: Duration) {
    let spec = SandboxSpec::default();
    let fakes = [here, elsewhere(Tier::MicroVm)];
    let worlds = worlds(&fakes);
    let all = backends(fakes);
    let begun = tokio::time::Instant::now();
    assert_eq!(all.select(Tier::Container, None, &spec).await.unwrap().id(), picked);
    assert_eq!(begun.elapsed(), after);
    let [_, elsewhere] = looks(&worlds);
    assert_eq!(elsewhere, asked);
    assert_eq!(all.preferred(&spec).await.unwrap().id(), picked);
    let [_, elsewhere] = looks(&worlds);
    assert_eq!(elsewhere, asked * 2);
}

#[tokio::test(start_paused = true)]
async fn another_machine_is_asked_only_where_none_here_will_do() {
    let here = || Fake::new("container", Tier::Container, 50);
    check_elsewhere(here(), "container", 0, Duration::ZERO).await;
    check_elsewhere(here().answering(absent("no engine")), "remote", 1, Duration::ZERO).await;
    // One here that takes its time is waited for.
    check_elsewhere(here().answering(Answers::Never), "remote", 1, PROBE_DEADLINE).await;
    check_elsewhere(Fake { runs: false, ..here() }, "remote", 1, Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn another_machine_is_not_asked_for_the_sake_of_a_hint() {
    let process = Fake::new("process", Tier::Process, 10).answering(without(Demand::Memory));
    let fakes = [process, elsewhere(Tier::MicroVm)];
    let worlds = worlds(&fakes);
    let error = backends(fakes).named("process", Tier::Process, &typed_memory()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unenforceable);
    let [_, elsewhere] = looks(&worlds);
    assert_eq!(elsewhere, 0);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_named_is_below_the_floor_if_its_look_says_so() {
    let spec = SandboxSpec::default();
    for (told, floor, is_taken) in [
        (Tier::MicroVm, Tier::MicroVm, true),
        (Tier::Container, Tier::MicroVm, false),
        (Tier::Container, Tier::Container, true),
    ] {
        let named = backends([elsewhere(told)]).named("remote", floor, &spec).await;
        assert_eq!(named.is_ok(), is_taken, "{told} {floor}");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_one_elsewhere_that_is_not_preferred() {
    let spec = SandboxSpec::default();
    let silent = elsewhere(Tier::MicroVm).answering(Answers::Never);
    let all = backends([Fake::new("process", Tier::Process, 10), silent]);
    let begun = tokio::time::Instant::now();
    assert_eq!(all.preferred(&spec).await.unwrap().id(), "process");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_named_is_taken_or_the_error_says_what_would_do() {
    let spec = typed_memory();
    let all = || {
        let [process, container, gvisor, microvm] = usual();
        backends([
            process.answering(without(Demand::Memory)),
            container,
            gvisor.answering(absent("runsc is not installed")),
            microvm,
        ])
    };
    let named = async |id, floor| all().named(id, floor, &spec).await.map(|backend| backend.id().to_owned());
    assert_eq!(named("container", Tier::Process).await.unwrap(), "container");
    let error = named("process", Tier::Process).await.unwrap_err();
    assert_eq!(
        (error.code(), error.hint().unwrap().as_str()),
        (ErrorCode::Unenforceable, "the backend `container` holds it here")
    );
    let error = named("gvisor", Tier::Process).await.unwrap_err();
    assert_eq!((error.code(), error.hint().as_deref()), (ErrorCode::Unavailable, Some("mend it")));
    assert_eq!(named("container", Tier::MicroVm).await.unwrap_err().code(), ErrorCode::Unenforceable);
    let error = named("docker", Tier::Process).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert!(error.to_string().contains("`process`, `container`"), "{error}");
    assert!(all().by_id("microvm").is_some() && all().by_id("docker").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_wall_that_may_be_partial_is_good_enough() {
    let mut half = report(WallStatus::Enforced);
    half.retain(|part| part.demand != "files");
    half.push(wallpart(Demand::Files, WallStatus::Partial));
    let all = || backends([Fake::new("process", Tier::Process, 1).answering(available(half.clone()))]);
    assert!(all().preferred(&SandboxSpec::default()).await.is_err());
    assert!(all().with_lenient([Demand::Files]).preferred(&SandboxSpec::default()).await.is_ok());
    assert!(all().with_lenient([Demand::Kill]).preferred(&SandboxSpec::default()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_spec_that_is_none_picks_nobody() {
    let spec = SandboxSpec { expose: vec![0], ..SandboxSpec::default() };
    let all = backends(usual());
    assert_eq!(all.preferred(&spec).await.unwrap_err().code(), ErrorCode::InvalidInput);
    assert_eq!(all.select(Tier::Process, None, &spec).await.unwrap_err().code(), ErrorCode::InvalidInput);
    assert_eq!(all.named("process", Tier::Process, &spec).await.unwrap_err().code(), ErrorCode::InvalidInput);
}

fn any_status() -> impl Strategy<Value = WallStatus> {
    prop_oneof![8 => Just(WallStatus::Enforced), 1 => Just(WallStatus::Partial), 1 => Just(WallStatus::Absent)]
}

fn any_answers() -> impl Strategy<Value = Answers> {
    let with = prop::collection::vec(any_status(), Demand::ALL.len()).prop_map(|statuses| {
        available(
            Demand::ALL.into_iter().zip(statuses).map(|(demand, status)| wallpart(demand, status)).collect(),
        )
    });
    prop_oneof![6 => with, 1 => Just(absent("it is not here")), 1 => Just(Answers::Never)]
}

fn any_tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(Tier::ALL.to_vec())
}

fn any_location() -> impl Strategy<Value = Location> {
    prop::sample::select(vec![Location::Here, Location::Remote])
}

fn any_backend() -> impl Strategy<Value = Fake> {
    ("[a-c]", any_tier(), 0_u32..4, any_location(), any_answers(), prop::bool::weighted(0.8)).prop_map(
        |(id, tier, priority, location, answers, runs)| Fake {
            location,
            answers,
            runs,
            ..Fake::new(&id, tier, priority)
        },
    )
}

/// Whether a backend is good enough, said without the code that is tested.
fn is_fit(fake: &Fake, floor: Tier, location: Option<Location>, spec: &SandboxSpec) -> bool {
    let Answers::With(probe) = &fake.answers else { return false };
    fake.tier >= floor
        && location.is_none_or(|location| location == fake.location)
        && fake.runs
        && probe.availability == Available::Yes
        && judge(spec, &probe.enforces, &[]).is_ok()
}

proptest! {
    #[test]
    fn whatever_backends_there_are_the_best_that_is_good_enough_is_picked_or_none(
        fakes in prop::collection::vec(any_backend(), 0..6),
        floor in any_tier(),
        location in prop::option::of(any_location()),
        is_typed: bool,
    ) {
        let spec = if is_typed { typed_memory() } else { SandboxSpec::default() };
        let fits = |fake: &&Fake| is_fit(fake, floor, location, &spec);
        let is_here = |location: Location| location == Location::Here;
        let best = fakes.iter().filter(fits).map(|fake| (is_here(fake.location), fake.tier, fake.priority)).max();
        let able = fakes.iter().filter(|fake| is_fit(fake, Tier::Process, None, &spec));
        let preferred = able.map(|fake| (is_here(fake.location), fake.priority)).max();
        let count = fakes.len();
        let all = backends(fakes);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            match all.select(floor, location, &spec).await {
                Ok(picked) => {
                    prop_assert!(picked.tier().meets(floor));
                    prop_assert_eq!(best, Some((is_here(picked.location()), picked.tier(), picked.priority())));
                }
                Err(error) => {
                    prop_assert_eq!(best, None);
                    prop_assert_eq!(tried(error).len(), count);
                }
            }
            match all.preferred(&spec).await {
                Ok(picked) => prop_assert_eq!(preferred, Some((is_here(picked.location()), picked.priority()))),
                Err(error) => {
                    prop_assert_eq!(preferred, None);
                    prop_assert_eq!(tried(error).len(), count);
                }
            }
            Ok(())
        })?;
    }
}
