for (;;) setTimeout(() => {}, 1000);
