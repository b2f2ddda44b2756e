export function start(elements) {}
