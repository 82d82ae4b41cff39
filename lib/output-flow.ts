import type { Holders } from './pipe';

/** Decides whether a terminal's output flows: once it may begin, while nobody is full and its user has not paused it. */
export class OutputFlow implements Holders {
  private begun = false;
  private paused = false;
  /** Destinations of pipe() that are full. */
  private readonly holders = new Set<object>();

  constructor(private readonly session: { begin(): void; pause(): void; resume(): void }) {}

  begin(): void {
    this.begun = true;
    this.session.begin();
    this.apply();
  }

  pause(): void {
    this.paused = true;
    this.apply();
  }

  resume(): void {
    this.paused = false;
    this.apply();
  }

  add(holder: object): void {
    this.holders.add(holder);
    this.apply();
  }

  delete(holder: object): void {
    if (this.holders.delete(holder)) this.apply();
  }

  private apply(): void {
    if (this.paused || this.holders.size > 0) this.session.pause();
    else if (this.begun) this.session.resume();
  }
}
