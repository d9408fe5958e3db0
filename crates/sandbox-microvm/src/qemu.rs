//! The program QEMU: what it is told, and how it is started.

use std::os::fd::OwnedFd;
use std::process::Command;

use bailiwick_sys::packets;
use bailiwick_wire::machine::WORD;

use crate::confinement::{self, Keeps};
use crate::monitor::{Accelerator, Ends, Size, Told};

/// How many mebibytes QEMU may keep of code that it translated.
const TRANSLATED: u32 = 64;
/// The board of every machine: it has clocks by which a kernel finds its speed on a machine that is busy, which QEMU's own
/// `microvm` has not; and of everything else as little as there can be.
const BOARD: &str = "q35,sata=off,smbus=off,vmport=off,usb=off,graphics=off";

/// The words for a processor.
fn processor(accelerator: Accelerator) -> [String; 4] {
    let (how, processor) = match accelerator {
        // Without what says which flaws it has not: some hosts offer that and refuse it, and a kernel that is not told is on guard.
        Accelerator::Kvm => ("kvm".to_owned(), "host,arch-capabilities=off"),
        Accelerator::Emulated => (format!("tcg,tb-size={TRANSLATED}"), "max"),
    };
    ["-accel".to_owned(), how, "-cpu".to_owned(), processor.to_owned()]
}

/// A program that is ready to be started, and our ends of its streams.
pub(crate) fn prepare(told: Told<'_>) -> Result<(Command, Ends), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut keeps = Keeps::default();
    let mut pair = || -> Result<(OwnedFd, i32), String> {
        let (ours, theirs) = packets::stream_pair().map_err(|failed| text(&failed))?;
        Ok((ours, keeps.keep(theirs)))
    };
    let ((agent, agent_number), (files, files_number)) = (pair()?, pair()?);
    let ((orders, orders_number), (qmp, qmp_number)) = (pair()?, pair()?);
    let again = |one: &OwnedFd| one.try_clone().map_err(|error| text(&error));
    let kernel = keeps.keep(again(&told.begins.kernel)?);
    let initramfs = keeps.keep(again(&told.begins.initramfs)?);
    let memory = told.memory.map(|file| keeps.keep(file));
    let Size { memory: size, processors } = told.size;
    let mut words: Vec<String> = [
        "-name",
        told.name,
        "-nodefaults",
        "-no-user-config",
        "-nographic",
        "-no-reboot",
        "-machine",
        BOARD,
        // Its own filter: nothing is started, no privilege is gained, no resource of others is changed.
        "-sandbox",
        "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    ]
    .map(str::to_owned)
    .to_vec();
    words.extend(processor(told.accelerator));
    let mut say = |words_of: &[&str]| words.extend(words_of.iter().map(|word| (*word).to_owned()));
    say(&["-m", &format!("{size}M"), "-smp", &processors.to_string()]);
    say(&["-kernel", &format!("/proc/self/fd/{kernel}"), "-initrd", &format!("/proc/self/fd/{initramfs}")]);
    say(&["-append", &format!("console=ttyS0 quiet panic=-1 reboot=t -- {WORD}")]);
    say(&["-device", "virtio-serial-pci"]);
    let ports = [("agent", agent_number, 1), ("files", files_number, 2), ("orders", orders_number, 3)];
    for (name, number, port) in ports {
        say(&["-chardev", &format!("socket,id={name},fd={number}")]);
        say(&["-device", &format!("virtserialport,chardev={name},name={name},nr={port}")]);
    }
    say(&["-chardev", &format!("socket,id=qmp,fd={qmp_number}"), "-mon", "chardev=qmp,mode=control"]);
    say(&["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]);
    if let Some(memory) = memory {
        say(&["-incoming", &format!("fd:{memory}")]);
    }
    let command = confinement::command(told.program, words, keeps, told.group, told.as_root)?;
    Ok((command, Ends::Held { agent, files, orders, qmp }))
}
