//! Waiting for requests, and testing them.

use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{ActivitySet, Answer, ExecRequest, Follow, OnTimeout, Simcall};

use crate::rank::Rank;
use crate::request::Pending;

impl Rank {
    /// Waits until a request is complete.
    pub fn wait_for(&self, request: &Pending) {
        while !request.is_complete() {
            let activities = request.waits_for(self);
            if activities.is_empty() {
                self.never();
            }
            self.awaits(request, 1);
            // One after the other: which of them is over first is nothing that a program can see.
            self.wait_for_activity(request, activities[0]);
        }
    }

    fn wait_for_activity(&self, request: &Pending, activity: ActivityId) {
        let (_, result) = self.wait_any([activity].into_iter().collect());
        request.over(self, activity, result);
    }

    /// Waits for what nobody but this process itself could complete.
    fn never(&self) {
        self.ask(Simcall::Suspend(crate::os::actor()));
    }

    /// Waits until one of these activities is over: which one, and what came of it.
    pub(crate) fn wait_any(
        &self,
        activities: ActivitySet,
    ) -> (
        usize,
        std::result::Result<Option<simurgh_kernel::simcall::Payload>, simurgh_kernel::simcall::Failure>,
    ) {
        let wait = Simcall::WaitAny { activities, timeout: None, on_timeout: OnTimeout::Keep, release: true };
        let (index, result) = self.ask(wait).into_over().expect("a wait ends when something is over");
        (index as usize, result)
    }

    /// Which of several that are complete is told is nobody's promise (3.7.5): where executions are explored, any of them may be. What is
    /// not known to be complete may be by now, too: then it is the one that is told, or it is left for later, since the program does not learn
    /// which of the others are complete.
    fn any_complete(&self, requests: &[(usize, Rc<Pending>)]) -> Option<usize> {
        let complete =
            || requests.iter().filter(|(_, request)| request.is_complete()).map(|(index, _)| *index);
        if !self.world.explored || requests.len() < 2 || complete().next().is_none() {
            return None;
        }
        // Those of several messages are complete when all of these are over.
        let several = requests.iter().filter(|(_, request)| request.waits_for(self).len() > 1);
        let several: Vec<_> = several.map(|(_, request)| Rc::clone(request)).collect();
        for request in several {
            while let Some(activity) = request.looks_at(self).first().copied() {
                let activities = [activity].into_iter().collect();
                match self.ask(Simcall::TestAny { activities }).into_over() {
                    Ok((_, result)) => request.over(self, activity, result),
                    Err(_) => break,
                }
            }
        }
        loop {
            let owners: Vec<_> = requests
                .iter()
                .filter(|(_, request)| request.waits_for(self).len() == 1)
                .flat_map(|(index, request)| {
                    request.waits_for(self).into_iter().map(move |activity| (activity, *index, request))
                })
                .collect();
            if owners.is_empty() {
                break;
            }
            // A test finds nothing only where nothing is over; this may be left for later even if it certainly is.
            let already = self.already_over();
            let activities = owners.iter().map(|(activity, ..)| *activity).chain([already]).collect();
            let (place, result) = self.wait_any(activities);
            let Some(&(activity, index, request)) = owners.get(place) else {
                self.polling.already_over.set(None);
                break;
            };
            request.over(self, activity, result);
            if request.is_complete() {
                return Some(index);
            }
        }
        let complete: Vec<usize> = complete().collect();
        if complete.len() < 2 {
            return complete.first().copied();
        }
        match self.ask(Simcall::Choose(complete.len() as u32)) {
            Answer::Chosen(chosen) => complete.get(chosen as usize).copied(),
            _ => complete.first().copied(),
        }
    }

    /// Work of no time: whoever waits for it or something else may go on at once.
    fn already_over(&self) -> ActivityId {
        let new = || {
            let nothing = ExecRequest { flops: 0.0, host: None, priority: None, bound: None, threads: 1 };
            match self.ask(Simcall::Execute(nothing, Follow::Return)) {
                Answer::Activity(activity) => activity,
                other => unreachable!("what is begun is not answered by {other:?}"),
            }
        };
        let activity = self.polling.already_over.get().unwrap_or_else(new);
        self.polling.already_over.set(Some(activity));
        activity
    }

    /// Waits until one of these is complete: which one.
    pub fn wait_for_one(&self, requests: &[(usize, Rc<Pending>)]) -> usize {
        if let Some(index) = self.any_complete(requests) {
            return index;
        }
        loop {
            if let Some((index, _)) = requests.iter().find(|(_, request)| request.is_complete()) {
                return *index;
            }
            let mut activities = ActivitySet::new();
            let mut owners = Vec::new();
            for (_, request) in requests {
                for activity in request.looks_at(self) {
                    activities.push(activity);
                    owners.push((activity, request));
                }
            }
            if let Some((_, first)) = requests.first() {
                self.awaits(first, requests.len());
            }
            if activities.is_empty() {
                self.never();
            }
            let (index, result) = self.wait_any(activities);
            let (activity, request) = owners[index];
            request.over(self, activity, result);
        }
    }

    /// Looks whether a request is complete.
    pub fn test(&self, request: &Pending) -> bool {
        while !request.is_complete() {
            let activities = request.looks_at(self);
            if activities.is_empty() {
                return false;
            }
            self.polls(&activities);
            if request.looks_at(self) != activities {
                continue;
            }
            let Ok((index, result)) =
                self.ask(Simcall::TestAny { activities: activities.clone() }).into_over()
            else {
                return false;
            };
            request.over(self, activities[index as usize], result);
        }
        true
    }

    /// Looks whether one message of a request is over.
    pub fn test_message(&self, request: &Pending, number: u32) -> bool {
        let Some(activity) = request.activity(number) else { return true };
        self.polls(&[activity]);
        if request.activity(number).is_none() {
            return true;
        }
        match self.ask(Simcall::TestAny { activities: [activity].into_iter().collect() }).into_over() {
            Ok((_, result)) => {
                request.over(self, activity, result);
                true
            }
            Err(_) => false,
        }
    }

    /// Looks whether one of these is complete: which one.
    pub fn test_any(&self, requests: &[(usize, Rc<Pending>)]) -> Option<usize> {
        if let Some(index) = self.any_complete(requests) {
            return Some(index);
        }
        loop {
            if let Some((index, _)) = requests.iter().find(|(_, request)| request.is_complete()) {
                return Some(*index);
            }
            let mut activities = ActivitySet::new();
            let mut owners = Vec::new();
            for (_, request) in requests {
                for activity in request.looks_at(self) {
                    activities.push(activity);
                    owners.push((activity, request));
                }
            }
            if activities.is_empty() {
                return None;
            }
            self.polls(&activities);
            if requests.iter().any(|(_, request)| request.is_complete()) {
                continue;
            }
            let (index, result) = self.ask(Simcall::TestAny { activities }).into_over().ok()?;
            let (activity, request) = owners[index as usize];
            request.over(self, activity, result);
        }
    }
}
