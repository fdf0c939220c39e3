DROP POLICY "tenant" ON "ldap_readings" CASCADE;--> statement-breakpoint
DROP POLICY "across" ON "ldap_readings" CASCADE;--> statement-breakpoint
DROP TABLE "ldap_readings" CASCADE;--> statement-breakpoint
DROP POLICY "tenant" ON "ldap_snapshot_entries" CASCADE;--> statement-breakpoint
DROP POLICY "across" ON "ldap_snapshot_entries" CASCADE;--> statement-breakpoint
DROP TABLE "ldap_snapshot_entries" CASCADE;--> statement-breakpoint
DROP POLICY "tenant" ON "ldap_snapshots" CASCADE;--> statement-breakpoint
DROP POLICY "across" ON "ldap_snapshots" CASCADE;--> statement-breakpoint
DROP TABLE "ldap_snapshots" CASCADE;--> statement-breakpoint
DROP POLICY "tenant" ON "ldap_staged_people" CASCADE;--> statement-breakpoint
DROP POLICY "across" ON "ldap_staged_people" CASCADE;--> statement-breakpoint
DROP TABLE "ldap_staged_people" CASCADE;--> statement-breakpoint
ALTER TABLE "ldap_staged_entries" DROP COLUMN "fingerprint";--> statement-breakpoint
ALTER TABLE "ldap_staged_entries" DROP COLUMN "belonging";--> statement-breakpoint
ALTER TABLE "ldap_staged_entries" DROP COLUMN "expires_at";