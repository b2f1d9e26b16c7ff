/**
 * Collects messages and sends them together at the end of the turn of the event loop: in a flood of requests each
 * message alone would cost a system call in both processes.
 */
export class MessageBatch<Item> {
  #items: Item[] = [];

  /** @param send called with at least one item */
  constructor(private readonly send: (items: readonly Item[]) => void) {}

  add(item: Item): void {
    if (this.#items.length === 0) setImmediate(() => this.flush());
    this.#items.push(item);
  }

  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.send(items);
  }
}
