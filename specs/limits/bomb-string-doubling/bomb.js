let text = 'x';
for (;;) text += text;
