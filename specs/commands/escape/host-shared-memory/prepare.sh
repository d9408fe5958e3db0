ipcmk --shmem 64 | tr -cd '0-9' > id
