/** Throws out of the event that caused it, so that the other listeners, and the events that must follow, still come. */
export function throwLater(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

export interface Disposable {
  dispose(): void;
}

/** Subscribes a listener; disposing the answer removes it again. */
export type Event<T> = (listener: (value: T) => unknown) => Disposable;

/** node-pty's way of subscribing: `onData(listener)`. */
export class EventSource<T> {
  private listeners: Array<(value: T) => unknown> = [];

  /** The same function on every access, as clients compare it. */
  readonly event: Event<T> = (listener) => {
    this.listeners = [...this.listeners, listener];
    return {
      dispose: () => {
        const i = this.listeners.indexOf(listener);
        if (i !== -1) this.listeners = this.listeners.filter((_, index) => index !== i);
      },
    };
  };

  /** To those who are subscribed now: subscribing or leaving during the event changes the next one. */
  fire(value: T): void {
    for (const listener of this.listeners) {
      try {
        listener.call(undefined, value);
      } catch (error) {
        throwLater(error);
      }
    }
  }
}
