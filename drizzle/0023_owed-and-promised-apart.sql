DROP INDEX "tender_change_notices_alert";--> statement-breakpoint
DROP INDEX "tender_matches_owed";--> statement-breakpoint
DROP INDEX "tender_matches_alert";--> statement-breakpoint
CREATE INDEX "tender_change_notices_alert" ON "tender_change_notices" USING btree ("alert_id") WHERE notified_at is null and alert_id is not null;--> statement-breakpoint
CREATE INDEX "tender_matches_owed" ON "tender_matches" USING btree ("kind","matched_at") WHERE notified_at is null and alert_id is null;--> statement-breakpoint
CREATE INDEX "tender_matches_alert" ON "tender_matches" USING btree ("alert_id") WHERE notified_at is null and alert_id is not null;