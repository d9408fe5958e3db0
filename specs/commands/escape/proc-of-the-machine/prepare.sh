cat /proc/sys/kernel/random/boot_id > boot_id
