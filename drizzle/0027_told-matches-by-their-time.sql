DROP INDEX "tender_matches_matched";--> statement-breakpoint
CREATE INDEX "tender_matches_notified" ON "tender_matches" USING btree ("matched_at") WHERE notified_at is not null;