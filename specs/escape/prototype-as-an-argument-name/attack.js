return ({}).polluted ?? 'refused: nothing';
