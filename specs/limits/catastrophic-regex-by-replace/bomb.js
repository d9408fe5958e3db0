return ('a'.repeat(64) + 'b').replaceAll(/(a|a)*$/g, '');
