let bound = () => 1;
for (let i = 0; i < 3000; i++) bound = bound.bind(null);
return bound();
