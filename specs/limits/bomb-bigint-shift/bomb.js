return (1n << (2n ** 30n)) > 0n;
