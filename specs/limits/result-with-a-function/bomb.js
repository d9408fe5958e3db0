return { a: [() => {}] };
