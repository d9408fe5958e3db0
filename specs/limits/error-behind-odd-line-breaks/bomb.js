const a = 'é ü'; //   note
/* 
 */ null.x;
