import { invalidField } from '@portal/domain/errors';
import { Secret } from '@portal/domain/secret';
import { secretChange, type SecretInput } from '@portal/domain/secret-input';
import { mayTravel, type SecretTarget } from '@portal/domain/secret-target';
import type { Secrets } from './sealed.ts';

/** The place of a stored secret; all fields come from one read of the row. */
export interface SecretPlace {
  /** Context of the seal: `smtp_configs.password:<tenant id>`. */
  context: string;
  /** Name of the field in the request body that sets it. */
  field: string;
  /** The sealed secret; null if none is stored. */
  sealed: string | null;
  /** The target in the row; null if the row names no server. */
  target: SecretTarget | null;
}

/** A secret that can only be opened for a target. A missing, blank or masked input means the stored secret. */
export interface StoredSecret {
  /**
   * The secret for one use at the target; null if there is none. Throws 400 `SECRET_REQUIRED` if the stored secret is meant but was stored
   * for another target, and an UnreadableSecretError if no key opens it.
   */
  for(target: SecretTarget, input?: SecretInput): Secret | null;
  /** The sealed value to store with the target, in the transaction that has locked the row. Also throws 400 `SECRET_REQUIRED`. */
  sealedFor(target: SecretTarget | null, input: SecretInput): string | null;
}

/** The access that use cases have to stored secrets. */
export interface SecretStore {
  at(place: SecretPlace): StoredSecret;
}

export const openSecretStore = (secrets: Secrets): SecretStore => ({
  at({ context, field, sealed, target: storedFor }) {
    const changeFor = (target: SecretTarget | null, input: SecretInput) => {
      const change = secretChange(input);
      if (change.kind === 'keep' && sealed !== null && !mayTravel(storedFor, target))
        throw invalidField(
          field,
          'must be entered again, or removed with null: the stored one is for another server, account or encryption',
          'SECRET_REQUIRED',
        );
      return change;
    };
    return {
      for(target, input) {
        const change = changeFor(target, input);
        if (change.kind === 'set') return new Secret(change.value);
        return change.kind === 'remove' || sealed === null ? null : new Secret(secrets.open(sealed, context));
      },
      sealedFor(target, input) {
        const change = changeFor(target, input);
        if (change.kind === 'set') return secrets.seal(change.value, context);
        return change.kind === 'remove' ? null : sealed;
      },
    };
  },
});
