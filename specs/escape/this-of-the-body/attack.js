const nothing = this === undefined || this === globalThis;
return nothing ? 'refused: nothing of yours' : `ESCAPED: ${Reflect.ownKeys(this)}`;
