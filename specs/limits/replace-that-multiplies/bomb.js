let text = 'aaaaaaaa';
for (;;) text = text.replaceAll('a', text);
