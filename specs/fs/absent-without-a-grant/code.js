return [typeof safety, "safety" in globalThis, typeof globalThis.safety?.fs].join(" ");
