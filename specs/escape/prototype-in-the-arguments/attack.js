return ({}).polluted ?? a.polluted ?? [].polluted ?? 'refused: nothing';
