const again = { then: (resolve) => resolve(again) };
await again;
