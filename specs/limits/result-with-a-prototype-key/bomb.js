const value = JSON.parse('{"__proto__": {"polluted": 1}}');
return { value, polluted: ({}).polluted ?? 'no' };
