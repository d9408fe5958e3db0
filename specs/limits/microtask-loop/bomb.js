const again = () => queueMicrotask(again);
again();
await new Promise(() => {});
