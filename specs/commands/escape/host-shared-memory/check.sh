ipcrm --shmem-id "$(cat id)"
