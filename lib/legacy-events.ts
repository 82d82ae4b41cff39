import { EventEmitter } from 'events';

import { throwLater } from './event';

type Listener = (...args: any[]) => void;

/** node-pty's older events: like an EventEmitter, but nothing chains. */
export class LegacyEvents {
  private readonly emitter = new EventEmitter();

  on(event: string, listener: Listener): void {
    this.emitter.on(event, listener);
  }

  addListener(event: string, listener: Listener): void {
    this.emitter.addListener(event, listener);
  }

  once(event: string, listener: Listener): void {
    this.emitter.once(event, listener);
  }

  removeListener(event: string, listener: Listener): void {
    this.emitter.removeListener(event, listener);
  }

  off(event: string, listener: Listener): void {
    this.emitter.off(event, listener);
  }

  removeAllListeners(event?: string): void {
    // With an argument that is undefined, an EventEmitter looks for an event of that name.
    if (event === undefined) this.emitter.removeAllListeners();
    else this.emitter.removeAllListeners(event);
  }

  listeners(event: string): Function[] {
    return this.emitter.listeners(event);
  }

  emit(event: string, ...args: unknown[]): boolean {
    return this.emitter.emit(event, ...args);
  }

  /** Emits an event of ours; what a listener throws is thrown later. */
  protected tell(event: string, ...args: unknown[]): void {
    try {
      this.emitter.emit(event, ...args);
    } catch (error) {
      throwLater(error);
    }
  }
}
