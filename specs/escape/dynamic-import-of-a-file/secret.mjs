export const token = 'of the machine';
