/** A request whose body has not come whole, and is too long or too slow to be waited for. */
export interface Uploader {
  /** Whose it is: all that come from one address have the same. */
  readonly from: string;
  /** It may take a connection to WordPress. */
  granted(): void;
  /** Too many wait already. */
  refused(): void;
}

/**
 * Leave to hold a connection to WordPress while a body comes. Whoever sends slowly holds it as long as he likes, so
 * such requests get half of the connections and those of one address an eighth: everybody else is served beside them.
 */
export class BodyLane {
  readonly #places: number;
  readonly #each: number;
  readonly #under = new Set<Uploader>();
  readonly #from = new Map<string, number>();
  readonly #line: Uploader[] = [];

  /** @param connections most connections to one WordPress */
  constructor(connections: number) {
    this.#places = Math.max(1, Math.floor(connections / 2));
    this.#each = Math.max(1, Math.floor(connections / 8));
  }

  enter(uploader: Uploader): void {
    if (this.#hasRoom(uploader)) this.#admit(uploader);
    else if (this.#line.length < this.#places * 8) this.#line.push(uploader);
    else uploader.refused();
  }

  /** Its body has come whole, or it has gone. May be called for one that is not here. */
  leave(uploader: Uploader): void {
    if (!this.#under.delete(uploader)) {
      const at = this.#line.indexOf(uploader);
      if (at !== -1) this.#line.splice(at, 1);
      return;
    }
    const left = (this.#from.get(uploader.from) ?? 1) - 1;
    if (left === 0) this.#from.delete(uploader.from);
    else this.#from.set(uploader.from, left);
    // Whoever is at the limit of the own address does not keep those behind.
    const at = this.#line.findIndex((waiting) => this.#hasRoom(waiting));
    if (at !== -1) this.#admit(this.#line.splice(at, 1)[0] as Uploader);
  }

  #hasRoom({ from }: Uploader): boolean {
    return this.#under.size < this.#places && (this.#from.get(from) ?? 0) < this.#each;
  }

  #admit(uploader: Uploader): void {
    this.#under.add(uploader);
    this.#from.set(uploader.from, (this.#from.get(uploader.from) ?? 0) + 1);
    uploader.granted();
  }
}
