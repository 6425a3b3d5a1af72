-- Room that rows are born with for what comes later (a wait, an answer; how a request ended), so that they need
-- not grow in a page that is full by then: moving rows between pages made a third of the pages that a park
-- writes. It goes, to NULL, when that comes.
ALTER TABLE turns ADD COLUMN room BLOB;
ALTER TABLE attempts ADD COLUMN room BLOB;
