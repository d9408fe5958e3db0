const one = [[0]];
return Array(170000).fill(one);
